// SPDX-License-Identifier: MIT
#include "table/log_query.h"

#include <spillway/prepared_statement.h>

#include "d1/sql_fragments.h"
#include "table/log_schema.h"
#include "table/log_table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace spillway {
namespace {

// What a page answers, by number. The last row of a filtered page is no row of the table: it says
// how far the page came, and has no level.
enum PageColumn : std::size_t {
  kCreatedAt,
  kWriter,
  kSeq,
  kLevel,
  kContext,
  kMessage,
  kFields,
  kLookedAt,
  kGaps
};

constexpr std::string_view kKey = "created_at, writer, seq";
constexpr std::string_view kKeyDescending = "created_at DESC, writer DESC, seq DESC";
constexpr std::string_view kIsGap = "(context = 'spillway' AND level = 'WARN')";
// Sorts behind every time.
constexpr std::string_view kEndOfTime = "~";

std::string placeholder(Row& values, Value value) {
  values.push_back(std::move(value));
  return '?' + std::to_string(values.size());
}

// Below every key of that time, in the order of the table.
LogKey lowest_key(std::string created_at) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  return {std::move(created_at), kLowest, kLowest};
}

// The stretch of the table that is left: one search along the key.
std::string range_sql(const LogWindow& window, LogOrder order, const std::optional<LogKey>& beyond,
                      Row& values) {
  const bool is_descending = order == LogOrder::kNewestFirst;
  const std::string until = window.until.empty() ? std::string(kEndOfTime) : window.until;
  const LogKey from = beyond ? *beyond : lowest_key(is_descending ? until : window.since);
  std::string sql = "created_at ";
  sql += is_descending ? ">= " : "< ";
  sql += placeholder(values, is_descending ? window.since : until);
  sql.append(" AND (").append(kKey).append(is_descending ? ") < (" : ") > (");
  sql += placeholder(values, from.created_at) + ", " + placeholder(values, from.writer) + ", " +
         placeholder(values, from.seq) + ')';
  return sql.append(" ORDER BY ").append(is_descending ? kKeyDescending : kKey);
}

// 'ERROR', 'CRITICAL'.
std::string level_list(Level level_min) {
  std::string list;
  for (auto level = static_cast<std::size_t>(level_min); level < kLevelCount; ++level) {
    list.append(list.empty() ? "'" : ", '");
    list.append(to_string(static_cast<Level>(level))).append("'");
  }
  return list;
}

// instr, because D1 takes no LIKE pattern above 50 bytes.
std::string filter_sql(const LogFilter& filter, Row& values) {
  std::string sql = "1";
  if (filter.level_min) {
    sql += " AND level IN (" + level_list(*filter.level_min) + ')';
  }
  if (filter.context) {
    sql += " AND context = " + placeholder(values, *filter.context);
  }
  if (!filter.text.empty()) {
    const std::string text = placeholder(values, filter.text);
    sql += " AND (instr(message, " + text + ") > 0 OR instr(fields, " + text + ") > 0)";
  }
  return sql;
}

// `page` holds keys only, so that its size does not depend on the messages; the rows that match
// are looked up by them.
std::string filtered_sql(const std::string& table, const std::string& filter,
                         const std::string& range, LogOrder order) {
  const std::string key(kKey);
  const std::string last_first(order == LogOrder::kNewestFirst ? kKey : kKeyDescending);
  return "WITH page AS MATERIALIZED (SELECT " + key + ", " + filter + " AS is_match, " +
         std::string(kIsGap) + " AS is_gap FROM " + table + " WHERE " + range + ") SELECT " +
         log_column_list("l.") + ", NULL AS looked_at, NULL AS gaps FROM page CROSS JOIN " + table +
         " AS l ON l.created_at = page.created_at AND l.writer = page.writer AND l.seq = page.seq"
         " WHERE page.is_match UNION ALL SELECT " +
         key +
         ", NULL, NULL, NULL, NULL, (SELECT count(*) FROM page), (SELECT sum(is_gap) FROM page)"
         " FROM (SELECT " +
         key + " FROM page ORDER BY " + last_first + " LIMIT 1)";
}

// The table's texts are texts, unless somebody else put a blob there: then its bytes.
std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return *text;
  }
  const auto* blob = std::get_if<Blob>(&value);
  std::string bytes(blob == nullptr ? 0 : blob->size(), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>((*blob)[i]);
  }
  return bytes;
}

Result<LogKey> key_of(const RowView& row) {
  const Result<std::int64_t> writer = row.get<std::int64_t>(kWriter);
  const Result<std::int64_t> seq = row.get<std::int64_t>(kSeq);
  if (!writer || !seq) {
    return writer ? seq.error() : writer.error();
  }
  return LogKey{text_of(row.values()[kCreatedAt]), *writer, *seq};
}

bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

LogRow row_of(LogKey key, const Row& values) {
  LogRow row{.key = std::move(key),
             .level = text_of(values[kLevel]),
             .context = text_of(values[kContext]),
             .message = text_of(values[kMessage]),
             .fields = {}};
  if (!is_null(values[kFields])) {
    row.fields = text_of(values[kFields]);
  }
  return row;
}

// Adds what a row of the answer says. `looked_at` becomes the number of rows that the page saw.
Status add_row(const RowView& row, LogPage& page, std::int64_t& looked_at) {
  Result<LogKey> key = key_of(row);
  if (!key) {
    return key.error();
  }
  if (!is_null(row.values()[kLevel])) {
    page.rows.push_back(row_of(*std::move(key), row.values()));
    return {};
  }
  const Result<std::int64_t> seen = row.get<std::int64_t>(kLookedAt);
  const Result<std::int64_t> gaps = row.get<std::int64_t>(kGaps);
  if (!seen || !gaps) {
    return seen ? gaps.error() : seen.error();
  }
  page.end = *std::move(key);
  page.gaps = *gaps;
  looked_at = *seen;
  return {};
}

Result<LogPage> page_of(const ResultSet& answer, LogOrder order, std::size_t rows_max) {
  LogPage page;
  auto looked_at = static_cast<std::int64_t>(answer.size());
  for (const RowView row : answer) {
    const Status status = row.values().size() == kGaps + 1
                              ? add_row(row, page, looked_at)
                              : Status(StatusCode::kPermanent, "a row of the answer is cut");
    if (!status.is_ok()) {
      return Status(StatusCode::kPermanent, "not a log row: " + status.message());
    }
  }
  // A union promises no order.
  std::sort(page.rows.begin(), page.rows.end(), [order](const LogRow& a, const LogRow& b) {
    return order == LogOrder::kOldestFirst ? a.key < b.key : b.key < a.key;
  });
  if (!page.end && !page.rows.empty()) {
    page.end = page.rows.back().key;
  }
  page.is_last = looked_at < static_cast<std::int64_t>(rows_max);
  return page;
}

Status explained(const Status& status, const std::string& table) {
  return status.code() == StatusCode::kSchema
             ? status.with_message("no log table " + table + " in this database (" +
                                   status.message() + "); --table names another")
             : status;
}

}  // namespace

LogQuery::LogQuery(std::string table, LogFilter filter)
    : table_(std::move(table)), filter_(std::move(filter)) {}

Result<LogQuery> LogQuery::of(std::string_view table, LogFilter filter) {
  if (const auto checked = LogTable::named(table); !checked) {
    return checked.error();
  }
  return LogQuery(quoted_name(table), std::move(filter));
}

Statement LogQuery::page(const LogWindow& window, LogOrder order,
                         const std::optional<LogKey>& beyond, std::size_t rows_max) const {
  Row values;
  // The number is written out: as a parameter it would say nothing to who reads the statement.
  const std::string range =
      range_sql(window, order, beyond, values) + " LIMIT " + std::to_string(rows_max);
  std::string sql;
  if (filter_.is_empty()) {
    sql = "SELECT " + log_column_list() + ", NULL AS looked_at, NULL AS gaps FROM " + table_ +
          " WHERE " + range;
  } else {
    const std::string filter = filter_sql(filter_, values);
    sql = filtered_sql(table_, filter, range, order);
  }
  return {std::move(sql), {std::move(values)}};
}

Result<LogPage> LogQuery::read(Database& database, const LogWindow& window, LogOrder order,
                               const std::optional<LogKey>& beyond, std::size_t rows_max,
                               const ExecuteOptions& options) const {
  const Statement statement = page(window, order, beyond, rows_max);
  ExecuteOptions repeatable = options;
  repeatable.is_idempotent = true;
  const auto answer = database.prepare(statement.sql).bind_rows(statement.rows).all(repeatable);
  if (!answer) {
    return explained(answer.error(), table_);
  }
  return page_of(*answer, order, rows_max);
}

}  // namespace spillway
