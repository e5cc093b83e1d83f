// SPDX-License-Identifier: MIT
//
// level_word: which level a line of somebody else's log claims to have.
#pragma once

#include <spillway/record.h>

#include <optional>
#include <string_view>

namespace spillway {

/// Looks at the first six tokens between white space and gives the first level it finds: a level's
/// word as `[word]` or `word:` in any case, or alone in upper case, where punctuation around it
/// does not matter: `ERROR,` `(ERROR)` `=ERROR` `WARNING:root:text` `INFO/main]`. Empty: the line
/// names none. Which words are levels is said by parse_level.
[[nodiscard]] std::optional<Level> level_word(std::string_view line) noexcept;

}  // namespace spillway
