// SPDX-License-Identifier: MIT
//
// D1Attempt: one attempt to run statements on D1, without the network: which bodies to POST to
// /raw, and what the answers mean. Pure.
//
//     auto attempt = D1Attempt::begin(statements, limits, columns);
//     while (!attempt->is_done()) attempt->take(post(attempt->body()));
//     return std::move(*attempt).result();
//
// Mostly there is one body. One more, which only reads, comes first where the number of a
// statement's columns has to be learnt (`SELECT *`); `columns` remembers it. What was sent is sent
// once more only if it certainly changed nothing: when it was refused because that number had
// changed, or when all of it reads and a text came back that has to be asked for byte by byte.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "d1/column_cache.h"
#include "d1/d1_encoding.h"
#include "d1/exact_select.h"
#include "d1/http_answer.h"
#include "d1/sql_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spillway {

class D1Attempt {
 public:
  /// kInvalidArgument, kTooBig: as D1Database::execute. `columns` must outlive the attempt;
  /// `statements` too.
  [[nodiscard]] static Result<D1Attempt> begin(std::span<const Statement> statements,
                                               const DatabaseLimits& limits, ColumnCache& columns);

  [[nodiscard]] bool is_done() const noexcept { return stage_ == Stage::kDone; }
  /// The JSON to POST next.
  [[nodiscard]] const std::string& body() const noexcept { return body_; }
  /// The answer to it.
  void take(const HttpAnswer& answer);
  /// Once it is done.
  [[nodiscard]] Result<std::vector<StatementResult>> result() &&;

 private:
  enum class Stage : std::uint8_t { kLearn, kRun, kDone };

  /// One of the statements.
  struct Part {
    SqlStatement sql;
    std::vector<D1Query> queries = {};  // One for each parameter row.
    D1Query names_query = {};           // Empty for what cannot be wrapped.
    bool is_wrapped = false;
    std::optional<std::size_t> columns = {};
    // Empty: to be asked for with each run.
    std::optional<std::vector<std::string>> names = {};
  };

  D1Attempt(const DatabaseLimits& limits, ColumnCache& columns)
      : limits_(limits), cache_(&columns) {}

  [[nodiscard]] Status add(const Statement& statement);
  void look_up_columns(Part& part);
  [[nodiscard]] bool has_unknown_columns() const;

  void ask_next();
  void ask_for_columns();
  void ask_for_results();
  void add_member(BatchBody& body, const D1Query& query, CellForm form);
  void add_part(BatchBody& body, const Part& part);
  [[nodiscard]] bool does_fit_wrapped(const Part& part) const;
  void post(BatchBody body, Stage stage);

  void take_column_count(Part& part, std::size_t count);
  void take_columns(Result<std::vector<StatementResult>> answers);
  void take_results(Result<std::vector<StatementResult>> answers);
  void take_refusal(const Status& status);
  void take_failed_learning(const Status& status);
  void forget_columns();
  [[nodiscard]] bool unwrap_nameless(std::span<const StatementResult> answers);
  [[nodiscard]] bool needs_bytes(std::span<const StatementResult> answers);
  [[nodiscard]] Status merge(std::vector<StatementResult> answers);
  [[nodiscard]] Status merge_part(Part& part, std::span<StatementResult>& answers);
  void finish(Status failure);

  DatabaseLimits limits_;
  ColumnCache* cache_;
  std::vector<Part> parts_;
  bool does_only_read_ = true;
  CellForm form_ = CellForm::kTagged;
  int wrong_counts_ = 0;

  Stage stage_ = Stage::kLearn;
  std::string body_;
  std::vector<CellForm> forms_;  // Of the members of the body.
  Status failure_;
  std::vector<StatementResult> results_;
};

}  // namespace spillway
