// SPDX-License-Identifier: MIT
//
// Any bytes as the answer of the server: they never pass for a success that is not whole, and no
// sequence of answers keeps an attempt busy for ever. The first byte chooses status and statements,
// the answers follow, separated by NUL.
#include "d1/d1_answer.h"
#include "d1/d1_attempt.h"
#include "tests/fuzz/invariant.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::fuzz {
namespace {

constexpr int kHttpStatuses[] = {200, 400, 429, 504};
// Learn, run, and run again for other numbers of columns and for texts that are not UTF-8.
constexpr int kBodiesMax = 8;

void require_failure(const Status& status) {
  require(status.message().size() <= 300, "a message is short");
  require(status.message().find("<html") == std::string::npos, "a message holds no HTML");
  require(std::none_of(status.message().begin(), status.message().end(),
                       [](char c) { return c >= 0 && c < ' '; }),
          "a message is one line");
}

void require_whole(const StatementResult& result) {
  for (const Row& row : result.rows) {
    require(row.size() == result.columns.size(), "each row has a value for each column");
  }
}

void run_answer(const std::string& body, int http_status) {
  static const std::array<CellForms, 3> forms = {
      CellForms{}, CellForms{CellForm::kTagged},
      CellForms{CellForm::kTagged, CellForm::kTaggedHex}};
  for (std::size_t count = 1; count <= forms.size(); ++count) {
    const auto results =
        read_answer({.http_status = http_status, .body = body}, std::span(forms).first(count));
    if (!results) {
      require_failure(results.status());
      continue;
    }
    require(http_status == 200, "an HTTP error is no success");
    require(results->size() == count, "a success holds a result for each statement");
    require_whole(results->front());  // A wrapped one may name no columns.
  }
}

const std::vector<Statement>& statements_for(unsigned choice) {
  static const std::array<std::vector<Statement>, 4> choices = {{
      {{"SELECT a, b FROM t"}},
      {{"SELECT * FROM t"}, {"SELECT 1"}},
      {{"INSERT INTO t VALUES(?)", {{1.0}, {2.0}}}, {"SELECT * FROM t"}},
      {{"DELETE FROM t RETURNING a"}},
  }};
  return choices[choice % choices.size()];
}

// The part of `input` up to the next NUL, which it takes away; the last part stays for ever.
std::string next_body(std::string_view& input) {
  const std::size_t end = input.find('\0');
  std::string body(input.substr(0, end));
  if (end != std::string_view::npos) {
    input.remove_prefix(end + 1);
  }
  return body;
}

void run_attempt(std::string_view input, const std::vector<Statement>& statements,
                 int http_status) {
  ColumnCache columns;
  Result<D1Attempt> attempt = D1Attempt::begin(statements, {}, columns);
  require(attempt.has_value(), "the statements can be sent");
  for (int bodies = 0; !attempt->is_done(); ++bodies) {
    require(bodies < kBodiesMax, "an attempt comes to an end");
    attempt->take({.http_status = http_status, .body = next_body(input)});
  }
  const Result<std::vector<StatementResult>> results = std::move(*attempt).result();
  if (!results) {
    require_failure(results.status());
    return;
  }
  require(results->size() == statements.size(), "each statement has its result");
  std::for_each(results->begin(), results->end(), require_whole);
}

}  // namespace
}  // namespace spillway::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  if (size == 0) {
    return 0;
  }
  const int http_status = spillway::fuzz::kHttpStatuses[(data[0] / 4U) % 4U];
  const std::string answers(data + 1, data + size);
  spillway::fuzz::run_answer(answers, http_status);
  spillway::fuzz::run_attempt(answers, spillway::fuzz::statements_for(data[0] % 4U), http_status);
  return 0;
}
