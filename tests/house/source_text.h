// SPDX-License-Identifier: MIT
//
// Looking at C++ source without a compiler: lines, includes, and the code without its comments and
// literals. Good enough for rules about names; it does not expand macros.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::house {

struct SourceFile {
  std::string path;  ///< From the root of the source tree, with '/'.
  std::string text;
};

struct Include {
  std::size_t line;    ///< From 1.
  std::string header;  ///< Without its brackets or quotes.
  bool is_quoted;
};

/// The lines of `text` without their ends. No line after a final newline.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// `text` with comments, strings and character literals turned into blanks; every other character
/// keeps its place.
[[nodiscard]] std::string code_of(std::string_view text);

[[nodiscard]] std::vector<Include> includes_of(std::string_view text);

/// The lines, from 1, in which `code` has `word` where no identifier goes on before it.
[[nodiscard]] std::vector<std::size_t> lines_with(std::string_view code, std::string_view word);

/// Characters, not bytes, of a line of UTF-8.
[[nodiscard]] std::size_t width_of(std::string_view line);

}  // namespace spillway::house
