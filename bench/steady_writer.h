// SPDX-License-Identifier: MIT
//
// SteadyWriter: a thread that inserts a log row every 5 ms over its own connection, as an
// application beside a job would, and notes how long it had to wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <thread>

struct sqlite3;
struct sqlite3_stmt;

namespace spillway::bench {

class SteadyWriter {
 public:
  struct Figures {
    std::int64_t rows = 0;
    std::chrono::microseconds longest_wait{0};  ///< For one row.
    std::int64_t wal_bytes_max = 0;             ///< Of the file's log.
  };

  /// Writes into the table `logs` of `file` from now on. Throws std::runtime_error.
  explicit SteadyWriter(const std::filesystem::path& file);
  SteadyWriter(const SteadyWriter&) = delete;
  SteadyWriter& operator=(const SteadyWriter&) = delete;
  ~SteadyWriter() = default;

  /// Ends after the row at hand. Once. Throws std::runtime_error if a row was refused.
  [[nodiscard]] Figures stop();

 private:
  struct Closer {
    void operator()(sqlite3* connection) const noexcept;
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  void write(const std::stop_token& stop);
  void write_row();
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path log_;
  std::unique_ptr<sqlite3, Closer> connection_;
  std::unique_ptr<sqlite3_stmt, Closer> insert_;
  int failure_ = 0;  // A code of SQLite's.
  Figures figures_;
  std::jthread thread_;
};

}  // namespace spillway::bench
