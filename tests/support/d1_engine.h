// SPDX-License-Identifier: MIT
//
// D1Engine: SQLite with the limits, refusals and error texts of D1, as far as clients meet them.
//
// One connection, one request at a time, as a D1 database has it. Thread-safe. What it says was
// compared with the answers of Cloudflare's own engine; what SQLite 3.40 lacks (unhex) is added.
// Source of the limits: developers.cloudflare.com/d1/platform/limits and workerd, sqlite.c++.
#pragma once

#include "tests/support/d1_body.h"

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spillway::testing {

/// How /raw and /query give rows.
enum class RowShape : std::uint8_t { kArrays, kObjects };

struct D1Answer {
  std::string results = "[]";  ///< A JSON array with one object for each statement.
  std::string error = {};      ///< Empty on success.
  std::int64_t rows_written = 0;
};

class D1Engine {
 public:
  /// Empty: in memory. Aborts when the file cannot be used: no test can go on without.
  explicit D1Engine(const std::string& file);

  [[nodiscard]] D1Answer run(const std::vector<D1Statement>& statements, RowShape shape,
                             const D1Extent& extent = {});
  /// The first value of the first row as text, "none" without a row: for the test, past all
  /// refusals.
  [[nodiscard]] std::string value(const std::string& sql);
  /// Ends what runs, now and from now on.
  void stop() noexcept { is_stopped_ = true; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Connection = std::unique_ptr<sqlite3, Close>;
  using Prepared = std::unique_ptr<sqlite3_stmt, Close>;

  static int authorize(void* engine, int action, const char* first, const char* second,
                       const char* database, const char* trigger);
  static int must_stop(void* engine);

  void set_limits();
  [[nodiscard]] std::string command(const char* sql);
  [[nodiscard]] std::string failure();
  [[nodiscard]] std::string end(std::string error);
  [[nodiscard]] std::string run_text(const D1Statement& statement, RowShape shape,
                                     D1Answer& answer);
  [[nodiscard]] std::string run_piece(sqlite3_stmt* prepared, const Row& params, RowShape shape,
                                      std::string& result, D1Answer& answer);
  [[nodiscard]] std::string meta(std::int64_t changes, std::int64_t size_before);
  [[nodiscard]] std::int64_t size();

  std::mutex mutex_;
  Connection connection_;
  bool is_trusted_ = false;  // The engine's own statements.
  bool has_refused_transaction_ = false;
  std::chrono::steady_clock::time_point began_;
  std::atomic<bool> is_stopped_{false};
};

}  // namespace spillway::testing
