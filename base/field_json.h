// SPDX-License-Identifier: MIT
//
// Encoded fields (field_code.h) read again, on the thread that makes text of them. Code that is cut
// off or no code at all is read as far as it goes: what is left of it is null.
#pragma once

#include "base/json_writer.h"

#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

struct FieldMember {
  std::string_view name;   ///< Storable text.
  std::string_view value;  ///< Its code.
};

/// The members of fields or of an object, in their order, of those with equal names the last.
class FieldMembers {
 public:
  /// Of fields, or of what stands between kObject and kEnd. `encoded` must outlive this. A name
  /// that is `reserved` gets a `_` at its end.
  explicit FieldMembers(std::string_view encoded, std::span<const std::string_view> reserved = {});

  [[nodiscard]] const std::vector<FieldMember>& all() const noexcept { return members_; }

 private:
  [[nodiscard]] std::string_view storable_name(std::string_view name,
                                               std::span<const std::string_view> reserved);
  void keep_the_last_of_each();

  std::vector<FieldMember> members_;
  std::forward_list<std::string> names_;  ///< Those that had to be changed.
};

/// Appends the value that `code` stands for.
void append_field_value(std::string_view code, JsonWriter& json);

/// The text, if `code` stands for one.
[[nodiscard]] std::optional<std::string_view> text_of_field(std::string_view code) noexcept;

}  // namespace spillway
