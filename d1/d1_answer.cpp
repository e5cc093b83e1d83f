// SPDX-License-Identifier: MIT
#include "d1/d1_answer.h"

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/one_line.h"
#include "base/utf8.h"
#include "d1/classify.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace spillway {
namespace {

using Json = nlohmann::json;

constexpr int kHttpNotFound = 404;

// The parts of JSON.

// Null if `object` is no object or has no such member.
const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json* json) {
  const auto* text = json == nullptr ? nullptr : json->get_ptr<const std::string*>();
  return text == nullptr ? std::string() : *text;
}

bool is_true(const Json* json) {
  const auto* truth = json == nullptr ? nullptr : json->get_ptr<const bool*>();
  return truth != nullptr && *truth;
}

// Figures of D1 may be missing; then they are 0.
double number_of(const Json* json) {
  return json != nullptr && json->is_number() ? json->get<double>() : 0;
}

std::int64_t whole_number_of(const Json* json) {
  constexpr double kTooMuch = 9.2e18;
  const double number = number_of(json);
  return std::abs(number) < kTooMuch ? static_cast<std::int64_t>(number) : 0;
}

// Values.

std::optional<Blob> blob_of(const Json& array) {
  Blob blob;
  blob.reserve(array.size());
  for (const Json& element : array) {
    const auto* byte = element.get_ptr<const Json::number_unsigned_t*>();
    if (byte == nullptr || *byte > 0xFF) {
      return std::nullopt;
    }
    blob.push_back(static_cast<std::byte>(*byte));
  }
  return blob;
}

std::optional<Value> to_value(std::optional<Blob> blob) {
  return blob ? std::optional<Value>(std::move(*blob)) : std::nullopt;
}

// D1 writes a whole real and an integer alike.
Value plain_number(const Json& json) {
  constexpr double kExactMax = 9'007'199'254'740'992;  // 2^53
  const double number = json.get<double>();
  return !json.is_number_float() && std::abs(number) < kExactMax
             ? Value(static_cast<std::int64_t>(number))
             : Value(number);
}

std::optional<Value> plain_value(const Json& json) {
  if (json.is_null()) {
    return Value();
  }
  if (json.is_number()) {
    return plain_number(json);
  }
  if (const auto* text = json.get_ptr<const std::string*>()) {
    return *text;
  }
  return json.is_array() ? to_value(blob_of(json)) : std::nullopt;
}

std::optional<Value> integer_of(std::string_view digits) {
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const std::from_chars_result parsed = std::from_chars(digits.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional<Value>(number)
                                                       : std::nullopt;
}

std::optional<std::uint8_t> nibble_of(char digit) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::size_t value = kDigits.find(digit);
  return value == std::string_view::npos ? std::nullopt
                                         : std::optional(static_cast<std::uint8_t>(value));
}

std::optional<Value> text_of_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) {
    return std::nullopt;
  }
  std::string text(hex.size() / 2, '\0');
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const auto high = nibble_of(hex[at]);
    const auto low = nibble_of(hex[at + 1]);
    if (!high || !low) {
      return std::nullopt;
    }
    text[at / 2] = static_cast<char>(*high << 4 | *low);
  }
  return text;
}

std::optional<Value> tagged_text(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string_view rest = text.substr(std::min<std::size_t>(text.size(), 1));
  if (text.starts_with('t')) {
    return std::string(rest);
  }
  if (text.starts_with('x')) {
    return text_of_hex(rest);
  }
  if (text.starts_with('i')) {
    return integer_of(rest);
  }
  if (text == "z") {
    return -0.0;
  }
  if (text == "+" || text == "-") {
    return text == "+" ? kInfinity : -kInfinity;
  }
  return std::nullopt;
}

std::optional<Value> tagged_bytes(std::optional<Blob> bytes) {
  if (!bytes || bytes->empty()) {
    return std::nullopt;
  }
  const auto tag = static_cast<char>(bytes->front());
  bytes->erase(bytes->begin());
  if (tag == 'b') {
    return std::move(*bytes);
  }
  if (tag != 't') {
    return std::nullopt;
  }
  std::string text(bytes->size(), '\0');
  std::transform(bytes->begin(), bytes->end(), text.begin(),
                 [](std::byte byte) { return static_cast<char>(byte); });
  return text;
}

std::optional<Value> tagged_value(const Json& json, CellForm form) {
  if (json.is_null()) {
    return Value();
  }
  if (json.is_number()) {
    return json.get<double>();
  }
  if (const auto* text = json.get_ptr<const std::string*>()) {
    return tagged_text(*text);
  }
  if (!json.is_array()) {
    return std::nullopt;
  }
  return form == CellForm::kTagged ? to_value(blob_of(json)) : tagged_bytes(blob_of(json));
}

// One result.

std::optional<Row> row_of(const Json& json, std::size_t columns, const CellForms& forms) {
  if (!json.is_array() || json.size() != columns) {
    return std::nullopt;
  }
  Row row;
  row.reserve(columns);
  for (const Json& cell : json) {
    std::optional<Value> value =
        forms.empty() ? plain_value(cell) : tagged_value(cell, forms[row.size()]);
    if (!value) {
      return std::nullopt;
    }
    row.push_back(std::move(*value));
  }
  return row;
}

bool read_columns(const Json& results, StatementResult& result) {
  const Json* columns = member(results, "columns");
  if (columns == nullptr || !columns->is_array()) {
    return false;
  }
  for (const Json& column : *columns) {
    const auto* name = column.get_ptr<const std::string*>();
    if (name == nullptr) {
      return false;
    }
    result.columns.push_back(*name);
  }
  return true;
}

bool read_rows(const Json& results, const CellForms& forms, StatementResult& result) {
  const Json* rows = member(results, "rows");
  if (rows == nullptr || !rows->is_array()) {
    return false;
  }
  const std::size_t columns = forms.empty() ? result.columns.size() : forms.size();
  result.rows.reserve(rows->size());
  for (const Json& row : *rows) {
    std::optional<Row> values = row_of(row, columns, forms);
    if (!values) {
      return false;
    }
    result.rows.push_back(std::move(*values));
  }
  return true;
}

bool is_empty_list(const Json& json) { return json.is_array() && json.empty(); }

// A statement that gives no rows may have no results, or an empty list of them.
bool is_without_rows(const Json* results) {
  return results == nullptr || results->is_null() || is_empty_list(*results);
}

Meta meta_of(const Json& statement) {
  Meta meta;
  const Json* figures = member(statement, "meta");
  if (figures == nullptr) {
    return meta;
  }
  meta.changes = whole_number_of(member(*figures, "changes"));
  meta.last_row_id = whole_number_of(member(*figures, "last_row_id"));
  meta.rows_read = whole_number_of(member(*figures, "rows_read"));
  meta.rows_written = whole_number_of(member(*figures, "rows_written"));
  constexpr double kMillisecondsMax = 1e12;
  const double duration_ms = number_of(member(*figures, "duration"));
  if (duration_ms > 0 && duration_ms < kMillisecondsMax) {
    meta.duration = std::chrono::microseconds(static_cast<std::int64_t>(duration_ms * 1000));
  }
  return meta;
}

// Of a statement that must give some.
bool read_tagged(const Json* results, const CellForms& forms, StatementResult& result) {
  if (results == nullptr) {
    return false;
  }
  if (is_empty_list(*results)) {
    return true;
  }
  return read_columns(*results, result) &&
         (result.columns.empty() || result.columns.size() == forms.size()) &&
         read_rows(*results, forms, result);
}

bool read_plain(const Json* results, StatementResult& result) {
  return is_without_rows(results) ||
         (read_columns(*results, result) && read_rows(*results, {}, result));
}

std::optional<StatementResult> result_of(const Json& statement, const CellForms& forms) {
  StatementResult result;
  result.meta = meta_of(statement);
  const Json* results = member(statement, "results");
  const bool is_whole =
      forms.empty() ? read_plain(results, result) : read_tagged(results, forms, result);
  return is_whole ? std::optional(std::move(result)) : std::nullopt;
}

// Failures.

int code_of(const Json& error) {
  const Json* code = member(error, "code");
  const auto* number = code == nullptr ? nullptr : code->get_ptr<const Json::number_unsigned_t*>();
  constexpr auto kMax = static_cast<unsigned>(std::numeric_limits<int>::max());
  return number != nullptr && *number <= kMax ? static_cast<int>(*number) : 0;
}

// Adds the errors of a list and what each says about its causes, outermost first. No deeper and no
// more than classify looks at, whatever the server sends.
void collect_errors(const Json* list, std::vector<D1Error>& errors, std::size_t depth = 0) {
  if (list == nullptr || !list->is_array() || depth == kErrorChainMax) {
    return;
  }
  for (const Json& error : *list) {
    if (errors.size() == kErrorChainMax) {
      return;
    }
    if (error.is_object()) {
      errors.push_back({code_of(error), text_of(member(error, "message"))});
      collect_errors(member(error, "error_chain"), errors, depth + 1);
    }
  }
}

Status failure_of(const Json& envelope, const HttpAnswer& answer) {
  D1Failure failure{
      .errors = {}, .http_status = answer.http_status, .retry_after = answer.retry_after};
  collect_errors(member(envelope, "errors"), failure.errors);
  if (failure.errors.empty()) {  // Some of Cloudflare's services say {"code": …, "error": "…"}.
    const std::string text = text_of(member(envelope, "error"));
    if (!text.empty()) {
      failure.errors.push_back({code_of(envelope), text});
    }
  }
  return classify(failure);
}

bool has_success_status(const HttpAnswer& answer) {
  return answer.http_status >= 200 && answer.http_status < 300;
}

// An answer that says success, but not all of it.
Status not_whole(const HttpAnswer& answer, const std::string& what) {
  return Status(StatusCode::kLost, "HTTP " + std::to_string(answer.http_status) + ", but " + what)
      .with_http_status(answer.http_status);
}

// A few words in plain text, as proxies send them ("upstream request timeout"), may be shown.
bool is_plain_text(std::string_view body) {
  constexpr std::size_t kPlainBytesMax = 200;
  return body.size() <= kPlainBytesMax && is_storable_text(body) &&
         body.find_first_of("<{[\"") == std::string_view::npos;
}

std::string what_instead_of_json(std::string_view body) {
  body = trimmed(body);
  if (body.empty()) {
    return "without a body";
  }
  if (body.front() == '<') {
    return "with HTML in place of JSON";
  }
  return is_plain_text(body) ? "with a plain text: " + one_line(body)
                             : "with a body that is not whole JSON";
}

Status not_understood(const HttpAnswer& answer, const std::string& what) {
  const Status status =
      classify({.http_status = answer.http_status, .retry_after = answer.retry_after});
  // Cloudflare says its own 404 in JSON: whoever says this is somebody else.
  const std::string way_out =
      answer.http_status == kHttpNotFound ? "; correct the base URL (CLOUDFLARE_API_BASE_URL)" : "";
  return status.with_message("HTTP " + std::to_string(answer.http_status) + " " + what + way_out);
}

// Where the string that begins at `begin` ends: its closing quote, or the end of all.
std::size_t end_of_string(std::string_view body, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < body.size() && body[at] != '"') {
    at += body[at] == '\\' ? 2U : 1U;
  }
  return at;
}

// True if more arrays and objects are open inside each other than in any answer of D1's. The parser
// makes up to 74 bytes of each, and a body of 64 KB may unpack to 64 MiB of "[".
bool is_too_deep(std::string_view body) {
  // The deepest is a chain of errors: a list and an object for each, in the envelope.
  constexpr int kDepthMax = 2 * static_cast<int>(kErrorChainMax) + 1;
  int depth = 0;
  for (std::size_t at = 0; at < body.size(); ++at) {
    const char c = body[at];
    if (c == '"') {
      at = end_of_string(body, at);
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    if (depth > kDepthMax) {
      return true;
    }
  }
  return false;
}

bool says_success(const Json& envelope) {
  const Json* errors = member(envelope, "errors");
  const bool has_errors = errors != nullptr && !errors->is_null() && !errors->empty();
  return is_true(member(envelope, "success")) && !has_errors;
}

Result<std::vector<StatementResult>> results_of(const Json& envelope, const HttpAnswer& answer,
                                                std::span<const CellForms> forms) {
  const Json* list = member(envelope, "result");
  if (list == nullptr || !list->is_array() || list->size() != forms.size()) {
    return not_whole(answer, "not one result for each statement");
  }
  std::vector<StatementResult> results;
  results.reserve(forms.size());
  for (const Json& statement : *list) {
    if (!is_true(member(statement, "success"))) {
      return failure_of(statement, answer);
    }
    std::optional<StatementResult> result = result_of(statement, forms[results.size()]);
    if (!result) {
      return not_whole(answer, "a result cannot be understood");
    }
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace

Result<std::vector<StatementResult>> read_answer(const HttpAnswer& answer,
                                                 std::span<const CellForms> forms) {
  if (!answer.transport.is_ok()) {
    return answer.transport;
  }
  if (is_too_deep(answer.body)) {
    return not_understood(answer, "with a body nested too deeply");
  }
  const Json envelope = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (!envelope.is_object()) {
    return not_understood(answer, what_instead_of_json(answer.body));
  }
  if (!has_success_status(answer) || !says_success(envelope)) {
    return failure_of(envelope, answer);
  }
  return results_of(envelope, answer, forms);
}

}  // namespace spillway
