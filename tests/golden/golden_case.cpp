// SPDX-License-Identifier: MIT
#include "tests/golden/golden_case.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

#include <cmath>
#include <cstddef>
#include <fstream>
#include <regex>
#include <string_view>
#include <utility>

namespace spillway::golden {
namespace {

using nlohmann::json;

json parsed(const std::string& line) { return json::parse(line, nullptr, false); }

// {{x*3}} is xxx. The unit may be a character of several bytes.
std::string expanded(const std::string& text) {
  static const std::regex repetition(R"(\{\{([^*]+)\*(\d+)\}\})");
  std::smatch match;
  if (text.find("{{") == std::string::npos || !std::regex_search(text, match, repetition)) {
    return text;
  }
  const std::string unit = match[1];
  std::string out = match.prefix();
  for (int count = std::stoi(match[2]); count > 0; --count) {
    out += unit;
  }
  return out + expanded(match.suffix());
}

Blob blob_of(const json& bytes) {
  Blob blob;
  for (const json& byte : bytes) {
    blob.push_back(std::byte{byte.get<std::uint8_t>()});
  }
  return blob;
}

// As D1 binds it: a number is a real, an array of bytes a blob.
Value value_of(const json& parameter) {
  if (parameter.is_number()) {
    return parameter.get<double>();
  }
  if (parameter.is_string()) {
    return expanded(parameter.get<std::string>());
  }
  return parameter.is_array() ? Value(blob_of(parameter)) : Value();
}

Statement statement_of(const json& query) {
  Statement statement{.sql = expanded(query.value("sql", "")), .rows = {}};
  if (query.contains("params")) {
    Row& row = statement.rows.emplace_back();
    for (const json& parameter : query["params"]) {
      row.push_back(value_of(parameter));
    }
  }
  return statement;
}

std::vector<Statement> statements_of(const json& request) {
  std::vector<Statement> statements;
  for (const json& query : request.value("batch", json::array({request}))) {
    statements.push_back(statement_of(query));
  }
  return statements;
}

// What SQLite said, without what the engine adds: ` at offset 7: SQLITE_ERROR`.
std::string sqlite_text(const std::string& message) {
  static const std::regex addition(R"(( at offset \d+)?: SQLITE_[A-Z]+( \(extended: \w+\))?$)");
  return std::regex_replace(message, addition, "");
}

json expected_answer(const json& recorded) {
  if (!recorded.contains("results")) {
    return {{"message", sqlite_text(recorded.value("message", ""))}};
  }
  json results = json::array();
  for (const json& result : recorded["results"]) {
    results.push_back({{"columns", result["columns"]},
                       {"rows", result["rows"]},
                       {"changes", result["meta"]["changes"]}});
  }
  return {{"results", results}};
}

std::string well_formed(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Part part = first_utf8_part(text);
    out += part.is_well_formed ? text.substr(0, part.bytes) : kReplacementCharacter;
    text.remove_prefix(part.bytes);
  }
  return out;
}

struct AsD1 {
  json operator()(std::monostate) const { return nullptr; }
  json operator()(std::int64_t number) const { return static_cast<double>(number); }
  json operator()(double number) const { return std::isfinite(number) ? json(number) : json(); }
  json operator()(const std::string& text) const { return well_formed(text); }
  json operator()(const Blob& blob) const {
    json bytes = json::array();
    for (const std::byte byte : blob) {
      bytes.push_back(std::to_integer<int>(byte));
    }
    return bytes;
  }
};

json rows_as_d1(const std::vector<Row>& rows) {
  json out = json::array();
  for (const Row& row : rows) {
    json& values = out.emplace_back(json::array());
    for (const Value& value : row) {
      values.push_back(std::visit(AsD1(), value));
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<GoldenCase> golden_cases() {
  const std::vector<std::string> cases = lines_of(kFolder + "cases.jsonl");
  const std::vector<std::string> answers = lines_of(kFolder + "answers.jsonl");
  std::vector<GoldenCase> all;
  for (std::size_t i = 0; i < cases.size() && i < answers.size(); ++i) {
    const json request = parsed(cases[i]);
    const json answer = parsed(answers[i]);
    if (!request.is_object() || request.value("case", "") != answer.value("case", "?")) {
      ADD_FAILURE() << "line " << i + 1 << " of the two files is not of the same case";
      return {};
    }
    all.push_back({request["case"], statements_of(request), expected_answer(answer)});
  }
  EXPECT_EQ(cases.size(), answers.size()) << "record the answers anew: see record.mjs";
  return all;
}

json as_d1(const Result<std::vector<StatementResult>>& answer) {
  if (!answer) {
    return {{"message", answer.error().message()}};
  }
  json results = json::array();
  for (const StatementResult& result : *answer) {
    results.push_back({{"columns", result.columns},
                       {"rows", rows_as_d1(result.rows)},
                       {"changes", result.meta.changes}});
  }
  return {{"results", results}};
}

}  // namespace spillway::golden
