// SPDX-License-Identifier: MIT
//
// LogQuery: reads the log table in pages, along its key.
//
// A page costs what it looks at and no more: the key begins with the time, so a page is one stretch
// of the table, begun where the page before ended, and nothing is sorted. With a filter, a page
// looks at a bounded number of rows whether they match or not; it answers those that match and how
// far it came. So a rare text in a table of a hundred million rows is a row of short requests
// instead of one that the database gives up.
//
// Nothing is written. Pure but for `read`; it keeps nothing of a database.
#pragma once

#include <spillway/database.h>
#include <spillway/record.h>
#include <spillway/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace spillway {

/// What a row of the log table is, and where: the table is in this order.
struct LogKey {
  std::string created_at;
  std::int64_t writer = 0;
  std::int64_t seq = 0;

  [[nodiscard]] friend bool operator<(const LogKey& a, const LogKey& b) {
    return std::tie(a.created_at, a.writer, a.seq) < std::tie(b.created_at, b.writer, b.seq);
  }
  [[nodiscard]] friend bool operator==(const LogKey& a, const LogKey& b) = default;
};

/// A row as it is stored.
struct LogRow {
  LogKey key;
  std::string level;
  std::string context;
  std::string message;
  std::optional<std::string> fields;  ///< Empty: NULL.
};

/// From `since` to before `until`, in the table's own form of time or a beginning of it. Empty:
/// without this end.
struct LogWindow {
  std::string since = {};
  std::string until = {};
};

/// What a row must have; what is empty does not matter.
struct LogFilter {
  std::optional<Level> level_min = {};
  std::optional<std::string> context = {};
  /// The message or the fields hold it, byte for byte.
  std::string text = {};

  [[nodiscard]] bool is_empty() const noexcept { return !level_min && !context && text.empty(); }
};

enum class LogOrder : std::uint8_t { kNewestFirst, kOldestFirst };

struct LogPage {
  std::vector<LogRow> rows = {};  ///< Those that match, in the order asked for.
  /// Where the page ended; the next one begins beyond it. Empty: there was no row.
  std::optional<LogKey> end = {};
  bool is_last = true;    ///< Nothing is left beyond its end.
  std::int64_t gaps = 0;  ///< Rows looked at that name missing ones, matching or not.
};

class LogQuery {
 public:
  /// kInvalidArgument: no name for a log table, see LogTable::named.
  [[nodiscard]] static Result<LogQuery> of(std::string_view table, LogFilter filter);

  /// The statement for the next `rows_max` rows beyond `beyond`, or from the window's beginning.
  [[nodiscard]] Statement page(const LogWindow& window, LogOrder order,
                               const std::optional<LogKey>& beyond, std::size_t rows_max) const;

  /// Runs it. `rows_max` is the number of rows looked at; the page holds at most as many.
  ///
  /// kSchema: there is no such table, or it is no log table; the message says which. kPermanent:
  /// the answer is none to this query. Else as Database::execute.
  [[nodiscard]] Result<LogPage> read(Database& database, const LogWindow& window, LogOrder order,
                                     const std::optional<LogKey>& beyond, std::size_t rows_max,
                                     const ExecuteOptions& options) const;

 private:
  LogQuery(std::string table, LogFilter filter);

  std::string table_;
  LogFilter filter_;
};

}  // namespace spillway
