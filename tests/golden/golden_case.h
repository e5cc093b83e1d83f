// SPDX-License-Identifier: MIT
//
// The golden cases: what is asked (cases.jsonl), and what D1's real engine answers (answers.jsonl,
// written by record.mjs), in the terms of Database.
#pragma once

#include <spillway/database.h>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace spillway::golden {

struct GoldenCase {
  std::string name;
  std::vector<Statement> statements;
  /// {results: [{columns, rows, changes}, …]} or {message}: what a Database is to answer.
  nlohmann::json answer;
};

/// Where cases, answers and the recording script are.
inline const std::string kFolder = SPILLWAY_SOURCE_DIR "/tests/golden/";

/// Empty, with a failed test, if the file cannot be read.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& path);

/// All cases, in order. Empty, with a failed test, if the two files do not belong together.
[[nodiscard]] std::vector<GoldenCase> golden_cases();

/// What a Database answered, as D1 would have sent it: every number as a double and infinities as
/// null (docs/facts.md, "Values"), each ill-formed part of a text as U+FFFD.
[[nodiscard]] nlohmann::json as_d1(const Result<std::vector<StatementResult>>& answer);

}  // namespace spillway::golden
