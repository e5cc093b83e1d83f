// SPDX-License-Identifier: MIT
//
// D1Part: one statement of a D1Attempt, as the members of a batch that stand for it: one for each
// row of parameters, and before them one for the names of the columns if it is wrapped. Pure.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "d1/d1_encoding.h"
#include "d1/exact_select.h"
#include "d1/sql_text.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spillway {

class D1Part {
 public:
  /// kInvalidArgument, kTooBig: as D1Database::execute.
  [[nodiscard]] static Result<D1Part> make(const Statement& statement,
                                           const DatabaseLimits& limits);

  [[nodiscard]] const std::string& text() const noexcept { return sql_.text; }
  [[nodiscard]] const std::string& verb() const noexcept { return sql_.verb; }
  [[nodiscard]] bool does_only_read() const noexcept { return sql_.does_read_only; }
  [[nodiscard]] bool is_wrapped() const noexcept { return is_wrapped_; }
  /// True: add_to needs the number of columns first.
  [[nodiscard]] bool needs_columns() const noexcept { return is_wrapped_ && forms_.empty(); }

  /// As far as the text tells.
  [[nodiscard]] std::optional<std::size_t> columns_by_text() const {
    return spillway::columns_by_text(sql_);
  }
  /// For a wrapped one; at least 1.
  void set_columns(std::size_t count) { forms_.assign(count, text_form_); }
  /// From now on its texts, in all columns, come as they are byte by byte.
  void use_hex();
  /// The same, but only for columns whose texts may have been something else: D1 puts U+FFFD in
  /// place of what is not UTF-8. True if there is one.
  [[nodiscard]] bool use_hex_where_needed(std::span<const StatementResult> answers);
  /// It is asked as it is.
  void leave_plain();

  /// What tells the columns: a member of a batch.
  [[nodiscard]] Status add_names_to(BatchBody& body, std::vector<CellForms>& forms) const;
  /// `number` is what wrong_column_count() will say. kTooBig: the text is too long once it is
  /// wrapped.
  [[nodiscard]] Status add_to(BatchBody& body, std::vector<CellForms>& forms,
                              std::size_t number) const;
  /// How many members that adds.
  [[nodiscard]] std::size_t members() const noexcept {
    return queries_.size() + (is_wrapped_ ? 1U : 0U);
  }
  /// Their answers as one result. kLost: they do not belong together.
  [[nodiscard]] Result<StatementResult> merge(std::span<StatementResult> answers) const;

 private:
  D1Part(SqlStatement sql, std::vector<D1Query> queries, const DatabaseLimits& limits)
      : sql_(std::move(sql)), queries_(std::move(queries)), limits_(limits) {}

  [[nodiscard]] Status check_size(const std::string& sent) const;

  SqlStatement sql_;
  std::vector<D1Query> queries_;  // One for each row of parameters.
  DatabaseLimits limits_;
  D1Query names_query_ = {};  // For what can be wrapped.
  bool is_wrapped_ = false;
  CellForm text_form_ = CellForm::kTagged;
  CellForms forms_ = {};  // Empty: not wrapped, or the number of columns is not known.
};

}  // namespace spillway
