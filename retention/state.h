// SPDX-License-Identifier: MIT
//
// State: what one run leaves for the next, one JSON text in TABLE_meta under `retention_state`.
//
// It can always be made anew from the table: a text that cannot be read is no error, it only means
// that the guards count and the walk is a full one.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/status.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::retention {

struct State {
  std::string policy = {};              ///< Its text, as to_string(Policy) gives it.
  std::optional<WallTime> at = {};      ///< When the run that left it began.
  std::optional<WallTime> met = {};     ///< When the last run began that ended with its policy met.
  std::optional<WallTime> newest = {};  ///< The newest row of then that was not in the future.
  std::optional<WallTime> oldest = {};  ///< The oldest one that was left.
  /// By the rule's name: rows older than this are gone, as far as the rule is for them.
  std::map<std::string, WallTime> watermarks = {};
  std::optional<WallTime> full_walk = {};  ///< When the last one began that reached the end.
  std::optional<Row> place = {};           ///< Tables of others: where a stopped walk goes on.

  [[nodiscard]] friend bool operator==(const State& a, const State& b) = default;
};

[[nodiscard]] std::string to_json(const State& state);
/// Empty: it cannot be read.
[[nodiscard]] std::optional<State> parse_state(std::string_view json);

/// What TABLE_meta says.
struct LoadedState {
  State state = {};        ///< Empty if there is none.
  bool is_spoilt = false;  ///< There is one that cannot be read.
  /// When rows were last put back: what was walked before that has to be walked again.
  std::optional<WallTime> restored = {};
};

/// `meta` is the quoted name of TABLE_meta. Where that table is missing, there is no state.
[[nodiscard]] Result<LoadedState> load_state(Database& database, const std::string& meta,
                                             const ExecuteOptions& options);
[[nodiscard]] Statement save_statement(const std::string& meta, const State& state);
/// For `restore`: says that rows came back, by the database's clock.
[[nodiscard]] Statement restored_statement(const std::string& meta);

}  // namespace spillway::retention
