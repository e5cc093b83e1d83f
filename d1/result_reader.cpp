// SPDX-License-Identifier: MIT
#include "d1/result_reader.h"

#include <string>
#include <utility>
#include <vector>

namespace spillway {
namespace {

using Kind = JsonToken::Kind;

// As many names tell the one who asked that they are too many.
constexpr std::size_t kNamesMax = kResultColumnsMax + 1;

}  // namespace

void ResultReader::begin(const JsonToken& token) {
  *this = ResultReader(*forms_);
  switch (token.kind) {
    case Kind::kNull:
      shape_ = Shape::kNull;
      break;
    case Kind::kList:
      shape_ = Shape::kEmptyList;  // An element would spoil it.
      break;
    case Kind::kObject:
      shape_ = Shape::kObject;
      break;
    default:
      spoil();
  }
}

void ResultReader::begin_columns(const JsonToken& token) {
  result_.columns.clear();
  has_columns_ = token.kind == Kind::kList;
}

void ResultReader::begin_rows(const JsonToken& token) {
  result_.rows.clear();
  width_ = forms_->size();
  has_rows_ = token.kind == Kind::kList;
}

void ResultReader::column(const JsonToken& token) {
  if (token.kind != Kind::kText) {
    spoil();
  } else if (result_.columns.size() < kNamesMax) {
    result_.columns.emplace_back(token.text);
  }
}

void ResultReader::row(const JsonToken& token) {
  if (token.kind != Kind::kList) {
    spoil();
  }
  row_.clear();
  row_.reserve(width_);
}

void ResultReader::end_row() {
  if (is_spoilt_) {
    return;
  }
  // Without a single value it is no row, and three bytes of the answer would take 24 of memory.
  if (row_.empty() || (width_ != 0 && row_.size() != width_)) {
    spoil();
    return;
  }
  width_ = row_.size();
  result_.rows.push_back(std::move(row_));
}

std::size_t ResultReader::width_max() const noexcept {
  return width_ != 0 ? width_ : kResultColumnsMax;
}

std::optional<CellForm> ResultReader::form_of_next() const {
  return forms_->empty() ? std::nullopt : std::optional((*forms_)[row_.size()]);
}

void ResultReader::cell(const JsonToken& token) {
  if (row_.size() == width_max()) {
    spoil();
  } else if (token.kind == Kind::kList) {
    bytes_.clear();
  } else {
    add(value_of(token, form_of_next()));
  }
}

void ResultReader::byte(const JsonToken& token) {
  if (const std::optional<std::byte> byte = byte_of(token)) {
    bytes_.push_back(*byte);
  } else {
    spoil();
  }
}

void ResultReader::end_bytes() {
  if (!is_spoilt_) {
    add(value_of(bytes_, form_of_next()));
  }
}

void ResultReader::add(std::optional<Value> value) {
  if (value) {
    row_.push_back(*std::move(value));
  } else {
    spoil();
  }
}

void ResultReader::spoil() {
  is_spoilt_ = true;
  result_ = {};
  row_ = {};
  bytes_ = {};
}

bool ResultReader::is_whole() const noexcept {
  if (is_spoilt_) {
    return false;
  }
  if (shape_ != Shape::kObject) {  // One that is to give rows must say that there are none.
    return forms_->empty() || shape_ == Shape::kEmptyList;
  }
  const std::size_t names = result_.columns.size();
  const bool do_names_fit = forms_->empty() ? result_.rows.empty() || names == width_
                                            : names == 0 || names == forms_->size();
  return has_columns_ && has_rows_ && do_names_fit;
}

std::optional<StatementResult> ResultReader::take() {
  return is_whole() ? std::optional(std::move(result_)) : std::nullopt;
}

}  // namespace spillway
