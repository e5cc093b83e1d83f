// SPDX-License-Identifier: MIT
#include "cli/tail_command.h"

#include "base/counted.h"
#include "cli/failure.h"
#include "cli/follower.h"
#include "cli/log_reader.h"
#include "cli/output.h"
#include "cli/row_printer.h"
#include "cli/stop_signals.h"
#include "cli/stop_watcher.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using Show = std::function<bool(std::vector<LogRow>)>;

OutputForm form_of(const TailOptions& options) {
  if (options.is_json) {
    return OutputForm::kJson;
  }
  return is_colour_wanted() ? OutputForm::kColoured : OutputForm::kPlain;
}

// The first rows: all of the window, or the newest of it, always with the oldest of them first.
class Listing {
 public:
  Listing(const TailOptions& options, LogReader& reader, Show show)
      : options_(options), reader_(reader), show_(std::move(show)) {}

  Status run() {
    gaps_ = 0;
    if (options_.limit) {
      return newest(*options_.limit);
    }
    return options_.window.since.empty() ? newest(TailOptions::kDefaultLimit) : all();
  }

  /// Gap rows in what was looked through, whether they match or not.
  [[nodiscard]] std::int64_t gaps() const noexcept { return gaps_; }

 private:
  Status all() {
    return reader_.for_each_page(options_.window, LogOrder::kOldestFirst, LogReader::kPageRows,
                                 [this](LogPage page) {
                                   gaps_ += page.gaps;
                                   return show_(std::move(page.rows));
                                 });
  }

  Status newest(std::size_t limit) {
    const std::size_t rows_first =
        options_.filter.is_empty() ? std::min(limit, LogReader::kPageRows) : LogReader::kPageRows;
    std::vector<LogRow> rows;
    Status status = reader_.for_each_page(
        options_.window, LogOrder::kNewestFirst, rows_first, [this, &rows, limit](LogPage page) {
          gaps_ += page.gaps;
          std::move(page.rows.begin(), page.rows.end(), std::back_inserter(rows));
          return rows.size() < limit;
        });
    if (status.is_ok()) {
      rows.resize(std::min(rows.size(), limit));
      std::reverse(rows.begin(), rows.end());
      show_(std::move(rows));
    }
    return status;
  }

  const TailOptions& options_;
  LogReader& reader_;
  Show show_;
  std::int64_t gaps_ = 0;
};

std::string empty_text(const TailOptions& options) {
  const bool is_bounded = !options.window.since.empty() || !options.window.until.empty();
  const std::string where = is_bounded ? " in this window" : "";
  const std::string what =
      "nothing was logged, or it could not be stored; an overloaded database "
      "looks like this until its gap row comes";
  return options.filter.is_empty() ? "no rows" + where + ": " + what
                                   : "the filter matched nothing" + where +
                                         ": if there are no "
                                         "rows without it either, " +
                                         what;
}

// Talk on stderr about what stdout does not show.
void tell_what_is_missing(const TailOptions& options, const RowPrinter& printer,
                          const Listing& listing) {
  if (printer.rows() == 0) {
    say(empty_text(options));
  }
  const auto shown = static_cast<std::int64_t>(printer.gaps());
  if (listing.gaps() > shown) {
    const std::int64_t more = listing.gaps() - shown;
    say("where this looked, " + counted(more, "more gap row") + (more == 1 ? " names" : " name") +
        " records that were not stored; --context spillway shows " + (more == 1 ? "it" : "them"));
  }
}

ExitCode list_once(const TailOptions& options, LogReader& reader, RowPrinter& printer) {
  Listing listing(options, reader,
                  [&printer](const std::vector<LogRow>& rows) { return printer.print(rows); });
  if (const Status status = listing.run(); !status.is_ok()) {
    return refuse(exit_code_of_statement(status), explained(status, Effect::kReads));
  }
  if (printer.state() == Printed::kAll) {
    tell_what_is_missing(options, printer, listing);
  }
  return printer.state() == Printed::kFailed ? ExitCode::kError : ExitCode::kDone;
}

ExitCode follow(const TailOptions& options, LogReader& reader, RowPrinter& printer,
                const StopWatcher& stop) {
  Follower follower(reader, printer, stop, options.window.since, options.interval);
  Listing listing(options, reader,
                  [&follower](std::vector<LogRow> rows) { return follower.show(std::move(rows)); });
  return follower.run([&] {
    Status status = listing.run();
    if (status.is_ok() && printer.state() == Printed::kAll) {
      tell_what_is_missing(options, printer, listing);
    }
    return status;
  });
}

ExitCode run_with(const TailOptions& options, LogReader& reader, const StopWatcher* stop) {
  RowPrinter printer(form_of(options));
  const auto traits = reader.connect();
  // A follower may wait for a busy database, but not for one that is wrongly named.
  if (!traits && (stop == nullptr || exit_code_of_open(traits.error()) == ExitCode::kUsage)) {
    return refuse(exit_code_of_open(traits.error()), explained(traits.error()));
  }
  return stop == nullptr ? list_once(options, reader, printer)
                         : follow(options, reader, printer, *stop);
}

ExitCode run_following(const TailOptions& options, DatabaseFactory open_database, LogQuery query) {
  const auto stop_fd = install_stop_signals();
  if (!stop_fd) {
    return refuse(ExitCode::kError, stop_fd.error().message());
  }
  const StopWatcher stop(*stop_fd);
  ExecuteOptions limits;
  limits.cancel = stop.token();
  LogReader reader(std::move(open_database), std::move(query), limits,
                   [&stop](std::chrono::milliseconds time) { return stop.wait_for(time); });
  return run_with(options, reader, &stop);
}

// Without --follow a signal ends the program as it ends any other.
ExitCode run_once(const TailOptions& options, DatabaseFactory open_database, LogQuery query) {
  LogReader reader(std::move(open_database), std::move(query), {},
                   [](std::chrono::milliseconds time) {
                     std::this_thread::sleep_for(time);
                     return false;
                   });
  return run_with(options, reader, nullptr);
}

}  // namespace

ExitCode run_tail(const TailOptions& options) {
  if (const Status status = check(options); !status.is_ok()) {
    return refuse(ExitCode::kUsage, status.message());
  }
  auto query = LogQuery::of(options.table, options.filter);
  if (!query) {
    return refuse(ExitCode::kUsage, "--table: " + query.error().message());
  }
  auto open_database = factory_of(options.database, OpenMode::kReadOnly);
  if (!open_database) {
    return refuse(ExitCode::kUsage, open_database.error().message());
  }
  const auto run = options.is_follow ? run_following : run_once;
  return run(options, *std::move(open_database), *std::move(query));
}

}  // namespace spillway
