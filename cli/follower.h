// SPDX-License-Identifier: MIT
//
// Follower: the part of `tail --follow` that comes after the first rows: look, print what is new,
// wait, and go on when the database does not answer.
#pragma once

#include <spillway/clock.h>
#include <spillway/status.h>

#include "cli/exit_code.h"
#include "cli/follow_window.h"
#include "cli/log_reader.h"
#include "cli/row_printer.h"
#include "cli/stop_watcher.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace spillway {

class Follower {
 public:
  /// All must outlive it. Rows before `floor` are never shown. `interval` is the time between two
  /// looks; 0: 1 s for a file, 5 s for D1.
  Follower(LogReader& reader, RowPrinter& printer, const StopWatcher& stop, std::string floor,
           std::chrono::milliseconds interval);

  /// Shows what `list` shows, through `show`, and from then on what is new, until a signal ends it
  /// or nobody reads any more: kDone. kError: nothing can be read or printed, and no waiting helps.
  [[nodiscard]] ExitCode run(const std::function<Status()>& list);

  /// Prints those of the rows that were not printed before. False: stdout takes no more.
  bool show(std::vector<LogRow> rows);

 private:
  [[nodiscard]] Status begin(const std::function<Status()>& list);
  [[nodiscard]] Status look(std::chrono::milliseconds overlap);
  /// Repeats `step` until it succeeds. A failure that it gives ends the program.
  [[nodiscard]] Status persist(const std::function<Status()>& step);
  [[nodiscard]] bool must_end() const noexcept;
  [[nodiscard]] ExitCode exit_code(const Status& status) const;
  void choose_interval();

  LogReader& reader_;
  RowPrinter& printer_;
  const StopWatcher& stop_;
  std::string floor_;
  FollowWindow window_;
  std::chrono::milliseconds interval_;  // Between two looks.
};

}  // namespace spillway
