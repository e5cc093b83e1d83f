// SPDX-License-Identifier: MIT
#include "d1/d1_attempt.h"

#include "d1/d1_answer.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace spillway {
namespace {

// How often what only reads is sent again before it is left to the caller. Two would do for tables
// that change now and then, and texts that are not UTF-8 beside them.
constexpr int kRepeatsMax = 3;

Status in_statement(const Status& status, std::size_t number) {
  return status.with_message("statement " + std::to_string(number) + ": " + status.message());
}

}  // namespace

// What to ask.

Result<D1Attempt> D1Attempt::begin(std::span<const Statement> statements,
                                   const DatabaseLimits& limits, ColumnCache& columns,
                                   std::size_t body_bytes_max) {
  if (statements.empty()) {
    return Status(StatusCode::kInvalidArgument, "no statements");
  }
  D1Attempt attempt(columns, body_bytes_max);
  attempt.parts_.reserve(statements.size());
  for (const Statement& statement : statements) {
    if (Status status = attempt.add(statement, limits); !status.is_ok()) {
      return statements.size() == 1 ? status : in_statement(status, attempt.parts_.size() + 1);
    }
  }
  if (!attempt.does_only_read()) {  // It cannot be asked a second time.
    for (D1Part& part : attempt.parts_) {
      part.use_hex();
    }
  }
  attempt.ask_next();
  if (attempt.is_done()) {
    return attempt.failure_;
  }
  return attempt;
}

Status D1Attempt::add(const Statement& statement, const DatabaseLimits& limits) {
  Result<D1Part> part = D1Part::make(statement, limits);
  if (!part) {
    return part.error();
  }
  if (part->is_wrapped()) {
    look_up_columns(*part);
  }
  parts_.push_back(std::move(*part));
  return {};
}

const std::string* D1Attempt::writing_verb() const noexcept {
  const auto writing = std::find_if(parts_.begin(), parts_.end(),
                                    [](const D1Part& part) { return !part.does_only_read(); });
  return writing == parts_.end() ? nullptr : &writing->verb();
}

void D1Attempt::look_up_columns(D1Part& part) {
  const std::optional<std::size_t> known = cache_->find(part.text());
  const std::optional<std::size_t> count = known ? known : part.columns_by_text();
  if (count && *count <= kResultColumnsMax) {
    part.set_columns(*count);
  }
}

void D1Attempt::ask_next() {
  const bool is_any_unknown = std::any_of(parts_.begin(), parts_.end(),
                                          [](const D1Part& part) { return part.needs_columns(); });
  if (is_any_unknown) {
    ask_for_columns();
  } else {
    ask_for_results();
  }
}

void D1Attempt::ask_for_columns() {
  BatchBody body;
  Status status;
  forms_.clear();
  learning_.clear();
  for (std::size_t index = 0; index < parts_.size() && status.is_ok(); ++index) {
    if (parts_[index].needs_columns() && (learning_.empty() || !does_learn_one_by_one_)) {
      status = in_place(parts_[index].add_names_to(body, forms_), index);
      learning_.push_back(index);
    }
  }
  post(std::move(body), status, Stage::kLearn);
}

void D1Attempt::ask_for_results() {
  BatchBody body;
  Status status;
  forms_.clear();
  for (std::size_t index = 0; index < parts_.size() && status.is_ok(); ++index) {
    status = in_place(parts_[index].add_to(body, forms_, index), index);
  }
  post(std::move(body), status, Stage::kRun);
}

void D1Attempt::post(BatchBody body, const Status& status, Stage stage) {
  body_ = std::move(body).json();
  stage_ = stage;
  if (!status.is_ok()) {
    finish(status);
  } else if (body_.size() > body_bytes_max_) {
    finish({StatusCode::kTooBig, "the request has " + std::to_string(body_.size()) +
                                     " bytes, and the limit is " +
                                     std::to_string(body_bytes_max_)});
  }
}

// What the answers mean.

void D1Attempt::take(const HttpAnswer& answer, const std::function<bool()>& is_over) {
  retry_after_ = answer.retry_after;
  Result<Answers> answers = read_answer(answer, forms_, is_over);
  if (stage_ == Stage::kLearn) {
    take_columns(answers);
  } else if (stage_ == Stage::kRun) {
    take_results(std::move(answers));
  }
}

void D1Attempt::take_columns(const Result<Answers>& answers) {
  if (!answers) {
    take_failed_learning(answers.error());
    return;
  }
  for (std::size_t i = 0; i < learning_.size(); ++i) {
    if (Status status = take_count(parts_[learning_[i]], (*answers)[i].columns.size());
        !status.is_ok()) {
      finish(status.with_execution(Execution::kNo));
      return;
    }
  }
  ask_next();
}

Status D1Attempt::take_count(D1Part& part, std::size_t count) {
  if (count > kResultColumnsMax) {
    return {StatusCode::kLost, "the answer names " + std::to_string(count) + " columns"};
  }
  if (count == 0) {  // The server does not name the columns of an empty result.
    part.leave_plain();
  } else {
    part.set_columns(count);
    cache_->remember(part.text(), count);
  }
  return {};
}

// The statements before may create the table that is missing; then only running all of them tells.
// Which one it is, learning them one by one tells.
void D1Attempt::take_failed_learning(const Status& status) {
  if (status.code() != StatusCode::kSchema || does_only_read()) {
    finish(status.with_execution(Execution::kNo));
    return;
  }
  if (learning_.size() == 1) {
    parts_[learning_.front()].leave_plain();
  }
  does_learn_one_by_one_ = true;
  ask_next();
}

void D1Attempt::take_results(Result<Answers> answers) {
  if (!answers) {
    take_refusal(answers.error());
  } else if (does_only_read() && needs_hex(*answers)) {
    ask_for_results();
  } else {
    merge(std::move(*answers));
  }
}

// True if a text may have been something else than UTF-8.
bool D1Attempt::needs_hex(std::span<const StatementResult> answers) {
  bool is_any = false;
  for (D1Part& part : parts_) {
    is_any =
        (part.is_wrapped() && part.use_hex_where_needed(answers.first(part.members()))) || is_any;
    answers = answers.subspan(part.members());
  }
  ++repeats_;
  if (is_any && repeats_ >= kRepeatsMax) {  // Other columns than before: now all of them.
    std::for_each(parts_.begin(), parts_.end(), [](D1Part& part) { part.use_hex(); });
  }
  return is_any;
}

void D1Attempt::take_refusal(const Status& status) {
  const std::optional<WrongColumnCount> wrong =
      status.execution() == Execution::kNo ? wrong_column_count(status) : std::nullopt;
  if (wrong && wrong->number < parts_.size() && parts_[wrong->number].is_wrapped() &&
      wrong->columns > 0 && wrong->columns <= kResultColumnsMax) {
    correct(*wrong);
    return;
  }
  if (status.code() == StatusCode::kPermanent || status.code() == StatusCode::kSchema) {
    forget_columns();
  }
  finish(status);
}

// What is remembered now makes the next attempt succeed, even where the statements themselves
// change the table that they read.
void D1Attempt::correct(const WrongColumnCount& wrong) {
  D1Part& part = parts_[wrong.number];
  part.set_columns(wrong.columns);
  cache_->remember(part.text(), wrong.columns);
  if (does_only_read() && !retry_after_ && ++repeats_ <= kRepeatsMax) {
    ask_for_results();
    return;
  }
  const std::string now = "the statement has " + std::to_string(wrong.columns) +
                          " columns now; nothing was executed, and it can be sent again";
  finish(in_place({StatusCode::kTransient, now}, wrong.number));
}

void D1Attempt::forget_columns() {
  for (const D1Part& part : parts_) {
    if (part.is_wrapped()) {
      cache_->forget(part.text());
    }
  }
}

void D1Attempt::merge(Answers answers) {
  std::span<StatementResult> rest(answers);
  results_.reserve(parts_.size());
  for (const D1Part& part : parts_) {
    Result<StatementResult> result = part.merge(rest.first(part.members()));
    if (!result) {
      finish(result.error());
      return;
    }
    results_.push_back(std::move(*result));
    rest = rest.subspan(part.members());
  }
  finish({});
}

Status D1Attempt::in_place(const Status& status, std::size_t index) const {
  return status.is_ok() || parts_.size() == 1 ? status : in_statement(status, index + 1);
}

void D1Attempt::finish(Status failure) {
  failure_ = failure.retry_after() ? std::move(failure) : failure.with_retry_after(retry_after_);
  stage_ = Stage::kDone;
  body_.clear();
}

Result<std::vector<StatementResult>> D1Attempt::result() && {
  if (!is_done()) {
    return Status(StatusCode::kInternal, "the attempt is not done");
  }
  if (!failure_.is_ok()) {
    return failure_;
  }
  return std::move(results_);
}

}  // namespace spillway
