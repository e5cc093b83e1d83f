// SPDX-License-Identifier: MIT
//
// What one value of a row says, in the form that exact_select asked for. Pure.
#pragma once

#include <spillway/database.h>

#include "d1/exact_select.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace spillway {

/// A value of JSON that holds no others, or the beginning of one that does.
struct JsonToken {
  enum class Kind : std::uint8_t { kNull, kFalse, kTrue, kWhole, kReal, kText, kList, kObject };

  Kind kind = Kind::kNull;
  double number = 0;           ///< Of kWhole and kReal.
  std::string_view text = {};  ///< Of kText, until the next token.

  [[nodiscard]] bool is_number() const noexcept {
    return kind == Kind::kWhole || kind == Kind::kReal;
  }
};

/// The value that a text, a number or null stands for. `form` is empty for a column that came as
/// D1 writes it. Empty: it cannot be understood.
[[nodiscard]] std::optional<Value> value_of(const JsonToken& token, std::optional<CellForm> form);

/// The value that a list of bytes stands for.
[[nodiscard]] std::optional<Value> value_of(const Blob& bytes, std::optional<CellForm> form);

/// An element of such a list. Empty: it is no byte.
[[nodiscard]] std::optional<std::byte> byte_of(const JsonToken& token);

}  // namespace spillway
