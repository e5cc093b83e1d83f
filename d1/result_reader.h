// SPDX-License-Identifier: MIT
//
// ResultReader: what a member of the batch gave, token by token. What does not fit is let go at
// once, so that no more memory is taken than what is kept needs.
#pragma once

#include <spillway/database.h>

#include "d1/answer_value.h"
#include "d1/exact_select.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace spillway {

class ResultReader {
 public:
  explicit ResultReader(const CellForms& forms) : forms_(&forms) {}

  /// The value of "results", of "columns" and of "rows". Each may come again: the last one counts,
  /// unless another one of the same object has spoilt it.
  void begin(const JsonToken& token);
  void begin_columns(const JsonToken& token);
  void begin_rows(const JsonToken& token);

  /// An element of these, of a row or of a list of bytes. Where it begins a list that is kept, the
  /// one who calls goes on with what is in there and then with the end of it.
  void column(const JsonToken& token);
  void row(const JsonToken& token);
  void end_row();
  void cell(const JsonToken& token);
  void byte(const JsonToken& token);
  void end_bytes();

  /// True where the value of "results" is an object. A list must hold nothing.
  [[nodiscard]] bool is_object() const noexcept { return shape_ == Shape::kObject; }
  /// Something is there that no result of a statement holds.
  void spoil();
  [[nodiscard]] bool is_spoilt() const noexcept { return is_spoilt_; }

  /// All has come. Empty: it is not whole, or not in the form that was asked for.
  [[nodiscard]] std::optional<StatementResult> take();

 private:
  enum class Shape : std::uint8_t { kAbsent, kNull, kEmptyList, kObject };

  [[nodiscard]] std::size_t width_max() const noexcept;
  [[nodiscard]] std::optional<CellForm> form_of_next() const;
  void add(std::optional<Value> value);
  [[nodiscard]] bool is_whole() const noexcept;

  const CellForms* forms_;
  Shape shape_ = Shape::kAbsent;
  bool is_spoilt_ = false;
  bool has_columns_ = false;
  bool has_rows_ = false;
  StatementResult result_;
  std::size_t width_ = 0;  // Of each row. 0: not known before the first one has come.
  Row row_;
  Blob bytes_;
};

}  // namespace spillway
