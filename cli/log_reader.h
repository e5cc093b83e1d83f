// SPDX-License-Identifier: MIT
//
// LogReader: fetches the pages of a log, at the pace and in the size that the database takes.
//
// For one thread. It opens the database when it is first needed and anew after a failure, so that a
// file that was replaced and a token that was changed count.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "table/log_query.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace spillway {

class LogReader {
 public:
  /// Waits that long; true: the program is to end.
  using Wait = std::function<bool(std::chrono::milliseconds)>;

  /// Rows that a page looks at, at first: some hundred kilobytes at most, and some milliseconds in
  /// the database. Where few of them match, the next page is larger, up to the second number.
  static constexpr std::size_t kPageRows = 1'000;
  static constexpr std::size_t kPageRowsMax = 16'000;

  LogReader(DatabaseFactory open_database, LogQuery query, ExecuteOptions options, Wait wait);

  /// Opens the database, if it is not open. Gives what it is.
  [[nodiscard]] Result<DatabaseTraits> connect();

  /// The next page, of at most `rows_max` rows; see LogQuery::read for the errors. Keeps to the
  /// rate of requests that the database names, and asks for less where a page was too big.
  [[nodiscard]] Result<LogPage> next(const LogWindow& window, LogOrder order,
                                     const std::optional<LogKey>& beyond, std::size_t rows_max);

  using OnPage = std::function<bool(LogPage)>;
  /// Hands on every page of the window, in that order, until `on_page` answers false. The first
  /// looks at `rows_first` rows.
  [[nodiscard]] Status for_each_page(const LogWindow& window, LogOrder order,
                                     std::size_t rows_first, const OnPage& on_page);

 private:
  [[nodiscard]] bool keep_pace(const RequestRate& rate);

  DatabaseFactory open_database_;
  LogQuery query_;
  ExecuteOptions options_;
  Wait wait_;
  std::unique_ptr<Database> database_;
  int requests_ = 0;  // Sent so far, up to the burst.
  std::size_t page_rows_max_ = kPageRowsMax;
};

}  // namespace spillway
