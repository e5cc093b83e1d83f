// SPDX-License-Identifier: MIT
//
// D1Attempt: one attempt to run statements on D1, without the network: which bodies to POST to
// /raw, and what the answers mean. Pure.
//
//     auto attempt = D1Attempt::begin(statements, limits, columns);
//     while (!attempt->is_done()) attempt->take(post(attempt->body()));
//     return std::move(*attempt).result();
//
// Mostly there is one body. Others, which only read, come first where the number of a statement's
// columns has to be learnt (`SELECT *`); `columns` remembers it. What may write is sent once. What
// only reads is sent again when that number has changed, and when a text came back that has to be
// asked for byte by byte.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "d1/column_cache.h"
#include "d1/d1_encoding.h"
#include "d1/d1_part.h"
#include "d1/exact_select.h"
#include "d1/http_answer.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spillway {

class D1Attempt {
 public:
  /// kInvalidArgument, kTooBig: as D1Database::execute. `columns` must outlive the attempt.
  [[nodiscard]] static Result<D1Attempt> begin(std::span<const Statement> statements,
                                               const DatabaseLimits& limits, ColumnCache& columns,
                                               std::size_t body_bytes_max = kBodyBytesMax);

  [[nodiscard]] bool is_done() const noexcept { return stage_ == Stage::kDone; }
  /// The verb of the first statement that can change the database; null if there is none.
  [[nodiscard]] const std::string* writing_verb() const noexcept;
  /// The JSON to POST next.
  [[nodiscard]] const std::string& body() const noexcept { return body_; }
  /// The answer to it. `is_over`: as read_answer.
  void take(const HttpAnswer& answer, const std::function<bool()>& is_over = {});
  /// Once it is done.
  [[nodiscard]] Result<std::vector<StatementResult>> result() &&;

 private:
  enum class Stage : std::uint8_t { kLearn, kRun, kDone };
  using Answers = std::vector<StatementResult>;

  D1Attempt(ColumnCache& columns, std::size_t body_bytes_max)
      : cache_(&columns), body_bytes_max_(body_bytes_max) {}

  [[nodiscard]] bool does_only_read() const noexcept { return writing_verb() == nullptr; }
  [[nodiscard]] Status add(const Statement& statement, const DatabaseLimits& limits);
  void look_up_columns(D1Part& part);

  void ask_next();
  void ask_for_columns();
  void ask_for_results();
  void post(BatchBody body, const Status& status, Stage stage);

  void take_columns(const Result<Answers>& answers);
  [[nodiscard]] Status take_count(D1Part& part, std::size_t count);
  void take_failed_learning(const Status& status);
  void take_results(Result<Answers> answers);
  [[nodiscard]] bool needs_hex(std::span<const StatementResult> answers);
  void take_refusal(const Status& status);
  void correct(const WrongColumnCount& wrong);
  void forget_columns();
  void merge(Answers answers);
  void finish(Status failure);

  [[nodiscard]] Status in_place(const Status& status, std::size_t index) const;

  ColumnCache* cache_;
  std::size_t body_bytes_max_;
  std::vector<D1Part> parts_;
  bool does_learn_one_by_one_ = false;
  int repeats_ = 0;  // Of what only reads.

  Stage stage_ = Stage::kLearn;
  std::string body_;
  std::vector<CellForms> forms_;                          // Of the members of the body.
  std::vector<std::size_t> learning_;                     // The parts whose columns it asks for.
  std::optional<std::chrono::milliseconds> retry_after_;  // Of the last answer.
  Status failure_;
  Answers results_;
};

}  // namespace spillway
