// SPDX-License-Identifier: MIT
#include "bench/steady_writer.h"

#include <spillway/clock.h>
#include <spillway/sleeper.h>

#include <sqlite3.h>

#include "base/time_text.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>

namespace spillway::bench {
namespace {

constexpr std::chrono::milliseconds kEvery{5};
constexpr int kPatienceMs = 60'000;
constexpr const char* kInsert =
    "INSERT INTO logs(created_at, writer, seq, level, context, message) "
    "VALUES (?, 2, ?, 'INFO', 'bench', 'a row of the application beside')";

std::int64_t bytes_of(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

}  // namespace

void SteadyWriter::Closer::operator()(sqlite3* connection) const noexcept {
  sqlite3_close(connection);
}

void SteadyWriter::Closer::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

SteadyWriter::SteadyWriter(const std::filesystem::path& file) : log_(file.string() + "-wal") {
  sqlite3* connection = nullptr;
  const int opened = sqlite3_open_v2(file.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr);
  connection_.reset(connection);  // There is one to close even after a failure.
  sqlite3_stmt* insert = nullptr;
  if (opened != SQLITE_OK || sqlite3_busy_timeout(connection, kPatienceMs) != SQLITE_OK ||
      sqlite3_exec(connection, "PRAGMA synchronous=NORMAL", nullptr, nullptr, nullptr) !=
          SQLITE_OK ||
      sqlite3_prepare_v2(connection, kInsert, -1, &insert, nullptr) != SQLITE_OK) {
    fail("cannot write");
  }
  insert_.reset(insert);
  thread_ = std::jthread([this](const std::stop_token& stop) { write(stop); });
}

SteadyWriter::Figures SteadyWriter::stop() {
  thread_.request_stop();
  thread_.join();
  if (failure_ != SQLITE_OK) {
    fail("a row was refused by");
  }
  return figures_;
}

void SteadyWriter::write(const std::stop_token& stop) {
  do {
    write_row();
  } while (failure_ == SQLITE_OK && Sleeper::system().sleep(kEvery, stop));
}

void SteadyWriter::write_row() {
  const std::string now = time_text(Clock::system().wall_now());
  sqlite3_bind_text(insert_.get(), 1, now.data(), static_cast<int>(now.size()), SQLITE_STATIC);
  sqlite3_bind_int64(insert_.get(), 2, ++figures_.rows);
  const SteadyTime begin = Clock::system().steady_now();
  sqlite3_step(insert_.get());
  failure_ = sqlite3_reset(insert_.get());
  const auto waited =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::system().steady_now() - begin);
  figures_.longest_wait = std::max(figures_.longest_wait, waited);
  figures_.wal_bytes_max = std::max(figures_.wal_bytes_max, bytes_of(log_));
}

void SteadyWriter::fail(const char* what) const {
  throw std::runtime_error(std::string(what) + " the file beside " + log_.string() + ": " +
                           sqlite3_errmsg(connection_.get()));
}

}  // namespace spillway::bench
