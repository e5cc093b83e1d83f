// SPDX-License-Identifier: MIT
//
// read_content: what an answer of D1's /raw holds, as far as we know it. The JSON is read piece by
// piece, and what nobody asks for is skipped, so that no more memory is taken than what is kept
// needs. Pure; d1_answer says what it means.
#pragma once

#include <spillway/database.h>

#include "d1/classify.h"
#include "d1/exact_select.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace spillway {

/// What the answer says of itself, or a member of the batch in it.
struct Report {
  bool is_success = false;
  bool has_errors = false;           ///< `errors` is neither null nor empty, whatever it holds.
  std::vector<D1Error> errors = {};  ///< Not more than classify looks at.
  D1Error other = {};  ///< Some of Cloudflare's services say {"code": …, "error": "…"}.
};

struct AnswerContent {
  enum class Form : std::uint8_t {
    kObject,
    kNoObject,    ///< No JSON, not whole, or no object.
    kTooDeep,     ///< More is open inside each other than in any answer of D1's.
    kUnfinished,  ///< is_over() ended the reading.
  };

  Form form = Form::kNoObject;
  Report report = {};
  /// How many members `result` has; empty: it is no list.
  std::optional<std::size_t> members = {};
  /// One for each member, if all of them succeeded and could be understood.
  std::vector<StatementResult> results = {};
  /// Of the first one that did not. A success: its result could not be understood.
  std::optional<Report> failed = {};
};

/// Keeps the results of as many members as there are `forms`. `is_over`, which may be empty, is
/// asked now and then whether to stop.
[[nodiscard]] AnswerContent read_content(std::string_view body, std::span<const CellForms> forms,
                                         const std::function<bool()>& is_over);

}  // namespace spillway
