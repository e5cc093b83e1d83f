// SPDX-License-Identifier: MIT
//
// D1Attempt: one attempt to run statements on D1, without the network: which bodies to POST to
// /raw, and what the answers mean. Pure.
//
//     auto attempt = D1Attempt::begin(statements, limits, columns);
//     while (!attempt->is_done()) attempt->take(post(attempt->body()));
//     return attempt->result();
//
// Only the last body writes anything. One or two that only read may go before it, to learn the
// columns of statements that read; `columns` remembers them.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "d1/http_answer.h"

#include <span>
#include <string>
#include <vector>

namespace spillway {

class ColumnCache;

class D1Attempt {
 public:
  /// kInvalidArgument, kTooBig: as D1Database::execute. `statements` and `columns` must outlive the
  /// attempt.
  [[nodiscard]] static Result<D1Attempt> begin(std::span<const Statement> statements,
                                               const DatabaseLimits& limits, ColumnCache& columns);

  [[nodiscard]] bool is_done() const noexcept;
  /// The JSON to POST next.
  [[nodiscard]] const std::string& body() const noexcept;
  /// The answer to it.
  void take(const HttpAnswer& answer);
  /// Once it is done.
  [[nodiscard]] Result<std::vector<StatementResult>> result() &&;
};

}  // namespace spillway
