// SPDX-License-Identifier: MIT
#include "cli/log_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace spillway {
namespace {

// Then a page four times as large holds no more rows than this one could have.
bool is_sparse(std::size_t rows, std::size_t looked_at) noexcept { return rows * 4 < looked_at; }

}  // namespace

LogReader::LogReader(DatabaseFactory open_database, LogQuery query, ExecuteOptions options,
                     Wait wait)
    : open_database_(std::move(open_database)),
      query_(std::move(query)),
      options_(std::move(options)),
      wait_(std::move(wait)) {}

Result<DatabaseTraits> LogReader::connect() {
  if (database_ == nullptr) {
    auto opened = open_database_();
    if (!opened) {
      return opened.error();
    }
    database_ = *std::move(opened);
  }
  return database_->traits();
}

// True: the program is to end. After the burst, one request per interval; what the waits between
// looks add to that is left to others.
bool LogReader::keep_pace(const RequestRate& rate) {
  if (rate.per_second <= 0) {
    return false;
  }
  if (requests_ < rate.burst) {
    ++requests_;
    return false;
  }
  constexpr double kMillisecondsPerSecond = 1000;
  return wait_(std::chrono::milliseconds(
      static_cast<std::int64_t>(kMillisecondsPerSecond / rate.per_second)));
}

Result<LogPage> LogReader::next(const LogWindow& window, LogOrder order,
                                const std::optional<LogKey>& beyond, std::size_t rows_max) {
  while (true) {
    const Result<DatabaseTraits> traits = connect();
    if (!traits) {
      return traits.error();
    }
    if (keep_pace(traits->rate)) {
      return Status(StatusCode::kCancelled, "asked to end");
    }
    const std::size_t rows = std::min(rows_max, page_rows_max_);
    Result<LogPage> page = query_.read(*database_, window, order, beyond, rows, options_);
    if (page || page.error().code() != StatusCode::kTooBig || rows == 1) {
      if (!page) {
        database_.reset();
      }
      return page;
    }
    page_rows_max_ = std::max<std::size_t>(rows / 8, 1);
  }
}

Status LogReader::for_each_page(const LogWindow& window, LogOrder order, std::size_t rows_first,
                                const OnPage& on_page) {
  std::optional<LogKey> beyond;
  std::size_t rows_max = rows_first;
  while (true) {
    Result<LogPage> page = next(window, order, beyond, rows_max);
    if (!page) {
      return page.error();
    }
    beyond = page->end;
    if (is_sparse(page->rows.size(), rows_max)) {
      rows_max = std::min(rows_max * 4, kPageRowsMax);
    }
    const bool is_last = page->is_last;
    if (!on_page(*std::move(page)) || is_last) {
      return {};
    }
  }
}

}  // namespace spillway
