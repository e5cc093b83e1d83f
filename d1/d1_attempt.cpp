// SPDX-License-Identifier: MIT
#include "d1/d1_attempt.h"

#include "base/utf8.h"
#include "d1/d1_answer.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

namespace spillway {
namespace {

// A refusal for a wrong number of columns is met by learning it anew, and the second one by not
// wrapping at all: then the statements themselves change the table that they read.
constexpr int kWrongCountsMax = 2;

Status in_place(const Status& status, const std::string& place) {
  return status.with_message(place + ": " + status.message());
}

bool holds_replacement(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && text->find(kReplacementCharacter) != std::string::npos;
}

bool holds_replacement(const StatementResult& result) {
  return std::any_of(result.rows.begin(), result.rows.end(), [](const Row& row) {
    return std::any_of(row.begin(), row.end(),
                       [](const Value& value) { return holds_replacement(value); });
  });
}

Meta sum(const Meta& a, const Meta& b) {
  return {.changes = a.changes + b.changes,
          .last_row_id = b.last_row_id,
          .rows_read = a.rows_read + b.rows_read,
          .rows_written = a.rows_written + b.rows_written,
          .duration = a.duration + b.duration};
}

void append(StatementResult& total, StatementResult&& more) {
  total.columns = std::move(more.columns);
  std::move(more.rows.begin(), more.rows.end(), std::back_inserter(total.rows));
  total.meta = sum(total.meta, more.meta);
}

Result<std::vector<D1Query>> encode_rows(const SqlStatement& sql, const std::vector<Row>& rows,
                                         const DatabaseLimits& limits) {
  static const std::vector<Row> once(1);
  std::vector<D1Query> queries;
  queries.reserve(std::max<std::size_t>(rows.size(), 1));
  for (const Row& row : rows.empty() ? once : rows) {
    Result<D1Query> query = encode(sql, row, limits);
    if (!query) {
      return rows.size() < 2 ? query.error()
                             : in_place(query.error(), "row " + std::to_string(queries.size() + 1));
    }
    queries.push_back(std::move(*query));
  }
  return queries;
}

}  // namespace

// --- what to ask
// ----------------------------------------------------------------------------------

Result<D1Attempt> D1Attempt::begin(std::span<const Statement> statements,
                                   const DatabaseLimits& limits, ColumnCache& columns) {
  if (statements.empty()) {
    return Status(StatusCode::kInvalidArgument, "no statements");
  }
  D1Attempt attempt(limits, columns);
  attempt.parts_.reserve(statements.size());
  for (const Statement& statement : statements) {
    if (Status status = attempt.add(statement); !status.is_ok()) {
      const std::string number = std::to_string(attempt.parts_.size() + 1);
      return statements.size() == 1 ? status : in_place(status, "statement " + number);
    }
  }
  // What also writes cannot be asked a second time, so its texts come byte by byte at once.
  attempt.form_ = attempt.does_only_read_ ? CellForm::kTagged : CellForm::kTaggedBytes;
  attempt.ask_next();
  return attempt;
}

Status D1Attempt::add(const Statement& statement) {
  Result<SqlStatement> sql = parse_statement(statement.sql);
  if (!sql) {
    return sql.error();
  }
  if (sql->controls_transaction) {
    return {StatusCode::kInvalidArgument,
            "BEGIN, COMMIT, ROLLBACK and SAVEPOINT are not accepted: one call is one transaction"};
  }
  Result<std::vector<D1Query>> queries = encode_rows(*sql, statement.rows, limits_);
  if (!queries) {
    return queries.error();
  }
  does_only_read_ = does_only_read_ && sql->does_read_only;
  Part part{.sql = std::move(*sql), .queries = std::move(*queries)};
  if (is_wrappable(part.sql)) {
    part.names_query =
        names_query(part.sql, statement.rows.empty() ? Row() : statement.rows.front());
    part.is_wrapped = part.names_query.sql.size() <= limits_.sql_bytes_max;
    look_up_columns(part);
  }
  parts_.push_back(std::move(part));
  return {};
}

void D1Attempt::look_up_columns(Part& part) {
  if (const KnownColumns* known = cache_->find(part.sql.text)) {
    part.columns = known->count;
    part.names = known->names;
  } else {
    part.columns = columns_by_text(part.sql);
  }
}

bool D1Attempt::has_unknown_columns() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.is_wrapped && !part.columns; });
}

void D1Attempt::ask_next() {
  if (has_unknown_columns()) {
    ask_for_columns();
  } else {
    ask_for_results();
  }
}

void D1Attempt::ask_for_columns() {
  BatchBody body;
  forms_.clear();
  for (const Part& part : parts_) {
    if (part.is_wrapped && !part.columns) {
      add_member(body, part.names_query, CellForm::kPlain);
    }
  }
  post(std::move(body), Stage::kLearn);
}

void D1Attempt::ask_for_results() {
  BatchBody body;
  forms_.clear();
  for (Part& part : parts_) {
    // Rather not exact than not at all.
    part.is_wrapped = part.is_wrapped && does_fit_wrapped(part);
    add_part(body, part);
  }
  post(std::move(body), Stage::kRun);
}

void D1Attempt::add_part(BatchBody& body, const Part& part) {
  if (part.is_wrapped && !part.names) {
    add_member(body, part.names_query, CellForm::kPlain);
  }
  for (const D1Query& query : part.queries) {
    if (part.is_wrapped) {
      add_member(body, {wrapped(query.sql, *part.columns, form_), query.params}, form_);
    } else {
      add_member(body, query, CellForm::kPlain);
    }
  }
}

void D1Attempt::add_member(BatchBody& body, const D1Query& query, CellForm form) {
  body.add(query.sql, query.params);
  forms_.push_back(form);
}

bool D1Attempt::does_fit_wrapped(const Part& part) const {
  return std::all_of(part.queries.begin(), part.queries.end(), [&](const D1Query& query) {
    return wrapped(query.sql, *part.columns, form_).size() <= limits_.sql_bytes_max;
  });
}

void D1Attempt::post(BatchBody body, Stage stage) {
  body_ = std::move(body).json();
  stage_ = stage;
}

// --- what the answers mean
// ------------------------------------------------------------------------

void D1Attempt::take(const HttpAnswer& answer) {
  Result<std::vector<StatementResult>> answers = read_answer(answer, forms_);
  if (stage_ == Stage::kLearn) {
    take_columns(std::move(answers));
  } else if (stage_ == Stage::kRun) {
    take_results(std::move(answers));
  }
}

void D1Attempt::take_columns(Result<std::vector<StatementResult>> answers) {
  if (!answers) {
    take_failed_learning(answers.error());
    return;
  }
  auto answer = answers->begin();
  for (Part& part : parts_) {
    if (part.is_wrapped && !part.columns) {
      take_column_count(part, answer->columns.size());
      ++answer;
    }
  }
  ask_for_results();
}

void D1Attempt::take_column_count(Part& part, std::size_t count) {
  part.columns = count;
  part.is_wrapped = count > 0;  // Else the server does not name the columns of an empty result.
  if (part.is_wrapped) {
    cache_->remember(part.sql.text, {count});
  }
}

// The statements before may create the table that is missing; then only running all of them tells.
void D1Attempt::take_failed_learning(const Status& status) {
  if (status.code() != StatusCode::kSchema || does_only_read_) {
    finish(status.with_execution(Execution::kNo));
    return;
  }
  for (Part& part : parts_) {
    part.is_wrapped = part.is_wrapped && part.columns;
  }
  ask_for_results();
}

void D1Attempt::take_results(Result<std::vector<StatementResult>> answers) {
  if (!answers) {
    take_refusal(answers.error());
    return;
  }
  if (does_only_read_ && (needs_bytes(*answers) || unwrap_nameless(*answers))) {
    ask_for_results();
    return;
  }
  finish(merge(std::move(*answers)));
}

void D1Attempt::take_refusal(const Status& status) {
  if (!is_wrong_column_count(status) || wrong_counts_ == kWrongCountsMax) {
    finish(status);
    return;
  }
  ++wrong_counts_;
  forget_columns();
  ask_next();
}

void D1Attempt::forget_columns() {
  for (Part& part : parts_) {
    if (part.is_wrapped) {
      cache_->forget(part.sql.text);
      part.columns.reset();
      part.names.reset();
      part.is_wrapped = wrong_counts_ < kWrongCountsMax;
    }
  }
}

// True if a text may have been something else than UTF-8; now they come byte by byte.
bool D1Attempt::needs_bytes(std::span<const StatementResult> answers) {
  for (std::size_t index = 0; index < answers.size(); ++index) {
    if (forms_[index] == CellForm::kTagged && holds_replacement(answers[index])) {
      form_ = CellForm::kTaggedBytes;
      return true;
    }
  }
  return false;
}

// True if a statement must be asked as it is because the server does not name the columns of an
// empty result.
bool D1Attempt::unwrap_nameless(std::span<const StatementResult> answers) {
  bool is_any = false;
  for (Part& part : parts_) {
    const bool has_names = part.is_wrapped && !part.names;
    const bool is_nameless = has_names && answers.front().columns.empty();
    answers = answers.subspan(part.queries.size() + (has_names ? 1U : 0U));
    part.is_wrapped = part.is_wrapped && !is_nameless;
    is_any = is_any || is_nameless;
  }
  return is_any;
}

// The answers of all members, as one result for each statement.
Status D1Attempt::merge(std::vector<StatementResult> answers) {
  std::span<StatementResult> rest(answers);
  results_.reserve(parts_.size());
  for (Part& part : parts_) {
    if (Status status = merge_part(part, rest); !status.is_ok()) {
      return status;
    }
  }
  return {};
}

Status D1Attempt::merge_part(Part& part, std::span<StatementResult>& answers) {
  const bool has_names = part.is_wrapped && !part.names;
  if (has_names) {
    part.names = std::move(answers.front().columns);
    answers = answers.subspan(1);
  }
  StatementResult& result = results_.emplace_back();
  for (StatementResult& answer : answers.first(part.queries.size())) {
    append(result, std::move(answer));
  }
  answers = answers.subspan(part.queries.size());
  if (!part.is_wrapped) {
    return {};
  }
  if (part.names->size() != result.columns.size()) {
    return {StatusCode::kLost, "the answer names other columns than it holds"};
  }
  if (has_names) {
    const bool are_fixed = columns_by_text(part.sql).has_value();
    cache_->remember(part.sql.text, {*part.columns, are_fixed ? part.names : std::nullopt});
  }
  result.columns = std::move(*part.names);
  return {};
}

void D1Attempt::finish(Status failure) {
  failure_ = std::move(failure);
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
