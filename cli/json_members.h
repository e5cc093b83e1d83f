// SPDX-License-Identifier: MIT
//
// json_members: the members of a JSON object as text, for showing them as key=value.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace spillway {

/// Both as they stand in the text. The key is what is between its quotes, escapes and all.
struct JsonMember {
  std::string_view key;
  std::string_view value;
};

/// The members of the outermost object, in order. Numbers keep every digit, because nothing is
/// read but where a value ends. Empty: `text` is no object, as far as this can see; it does not
/// check what is inside of values. The views point into `text`.
[[nodiscard]] std::optional<std::vector<JsonMember>> json_members(std::string_view text);

/// The content of a JSON string that holds no escape; empty for any other value.
[[nodiscard]] std::optional<std::string_view> plain_string(std::string_view value);

}  // namespace spillway
