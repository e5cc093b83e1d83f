// SPDX-License-Identifier: MIT
//
// TailOptions: what `spillway tail` was told on its command line.
#pragma once

#include <spillway/clock.h>

#include "cli/common_options.h"
#include "table/log_query.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace spillway {

struct TailOptions {
  /// When neither --limit nor --since is given.
  static constexpr std::size_t kDefaultLimit = 20;
  /// They are held in memory until the oldest is known.
  static constexpr std::size_t kLimitMax = 100'000;

  DatabaseChoice database;
  std::string table = "logs";
  LogWindow window;
  LogFilter filter;
  std::optional<std::size_t> limit;
  bool is_follow = false;
  std::chrono::milliseconds interval{0};  ///< Between two looks of --follow. 0: by the database.
  bool is_json = false;
};

/// As add_log_options. Times that are given as so long ago count back from `now`.
void add_tail_options(CLI::App& command, TailOptions& options, WallTime now);

/// kInvalidArgument: options that exclude each other, a window that ends before it begins.
[[nodiscard]] Status check(const TailOptions& options);

}  // namespace spillway
