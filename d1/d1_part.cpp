// SPDX-License-Identifier: MIT
#include "d1/d1_part.h"

#include "base/utf8.h"
#include "d1/statement_refusal.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace spillway {
namespace {

Status in_row(const Status& status, std::size_t number) {
  return status.with_message("row " + std::to_string(number) + ": " + status.message());
}

Result<std::vector<D1Query>> encode_rows(const SqlStatement& sql, const std::vector<Row>& rows,
                                         const DatabaseLimits& limits) {
  static const std::vector<Row> once(1);
  std::vector<D1Query> queries;
  queries.reserve(std::max<std::size_t>(rows.size(), 1));
  for (const Row& row : rows.empty() ? once : rows) {
    Result<D1Query> query = encode(sql, row, limits);
    if (!query) {
      return rows.size() < 2 ? query.error() : in_row(query.error(), queries.size() + 1);
    }
    queries.push_back(std::move(*query));
  }
  return queries;
}

bool holds_replacement(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && text->find(kReplacementCharacter) != std::string::npos;
}

bool holds_replacement(std::span<const StatementResult> answers, std::size_t column) {
  return std::any_of(answers.begin(), answers.end(), [column](const StatementResult& answer) {
    return std::any_of(answer.rows.begin(), answer.rows.end(),
                       [column](const Row& row) { return holds_replacement(row[column]); });
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
  if (!more.columns.empty()) {  // A server may not name those of an empty result.
    total.columns = std::move(more.columns);
  }
  if (total.rows.empty()) {  // Mostly there is one answer.
    total.rows = std::move(more.rows);
  } else {
    std::move(more.rows.begin(), more.rows.end(), std::back_inserter(total.rows));
  }
  total.meta = sum(total.meta, more.meta);
}

std::vector<std::string> numbered_names(std::size_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    names.push_back("c" + std::to_string(index));
  }
  return names;
}

}  // namespace

Result<D1Part> D1Part::make(const Statement& statement, const DatabaseLimits& limits) {
  if (statement.sql.size() > limits.sql_bytes_max) {  // Before anybody looks at all of it.
    return Status(StatusCode::kTooBig, "the SQL text has " + std::to_string(statement.sql.size()) +
                                           " bytes, and the limit is " +
                                           std::to_string(limits.sql_bytes_max));
  }
  Result<SqlStatement> sql = parse_statement(statement.sql);
  if (!sql) {
    return sql.error();
  }
  if (sql->controls_transaction) {
    return transaction_control_refused();
  }
  Result<std::vector<D1Query>> queries = encode_rows(*sql, statement.rows, limits);
  if (!queries) {
    return queries.error();
  }
  D1Part part(std::move(*sql), std::move(*queries), limits);
  if (is_wrappable(part.sql_)) {
    part.is_wrapped_ = true;
    part.names_query_ = names_query(
        part.sql_, statement.rows.empty() ? Row() : statement.rows.front(), limits.sql_bytes_max);
  }
  return part;
}

void D1Part::use_hex() {
  text_form_ = CellForm::kTaggedHex;
  std::fill(forms_.begin(), forms_.end(), text_form_);
}

bool D1Part::use_hex_where_needed(std::span<const StatementResult> answers) {
  bool is_any = false;
  for (std::size_t column = 0; column < forms_.size(); ++column) {
    // The first answer holds the names.
    if (forms_[column] == CellForm::kTagged && holds_replacement(answers.subspan(1), column)) {
      forms_[column] = CellForm::kTaggedHex;
      is_any = true;
    }
  }
  return is_any;
}

void D1Part::leave_plain() {
  is_wrapped_ = false;
  forms_.clear();
}

Status D1Part::check_size(const std::string& sent) const {
  return sent.size() <= limits_.sql_bytes_max
             ? Status()
             : Status(StatusCode::kTooBig, "the SQL text has " + std::to_string(sent.size()) +
                                               " bytes with what makes its values exact, and the "
                                               "limit is " +
                                               std::to_string(limits_.sql_bytes_max));
}

Status D1Part::add_names_to(BatchBody& body, std::vector<CellForms>& forms) const {
  body.add(names_query_.sql, names_query_.params);
  forms.emplace_back();
  return check_size(names_query_.sql);
}

Status D1Part::add_to(BatchBody& body, std::vector<CellForms>& forms, std::size_t number) const {
  if (is_wrapped_) {
    if (Status status = add_names_to(body, forms); !status.is_ok()) {
      return status;
    }
  }
  for (const D1Query& query : queries_) {
    const std::string sql = is_wrapped_ ? wrapped(query.sql, forms_, number) : query.sql;
    if (Status status = check_size(sql); !status.is_ok()) {
      return status;
    }
    body.add(sql, query.params);
    forms.push_back(forms_);
  }
  return {};
}

Result<StatementResult> D1Part::merge(std::span<StatementResult> answers) const {
  std::vector<std::string> names;
  if (is_wrapped_) {
    names = std::move(answers.front().columns);
    answers = answers.subspan(1);
  }
  StatementResult result;
  for (StatementResult& answer : answers) {
    append(result, std::move(answer));
  }
  if (is_wrapped_) {
    // What has been executed counts, even where the server does not name the columns.
    result.columns = names.empty() ? numbered_names(forms_.size()) : std::move(names);
    if (result.columns.size() != forms_.size()) {
      return Status(StatusCode::kLost, "the answer names other columns than it holds");
    }
  }
  return result;
}

}  // namespace spillway
