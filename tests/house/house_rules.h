// SPDX-License-Identifier: MIT
//
// The rules of the house that no compiler checks, as functions from text to findings. They read no
// file: layout_style_test.cpp applies them to the source tree.
#pragma once

#include "tests/house/source_text.h"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::house {

inline constexpr std::size_t kFileLinesMax = 600;
inline constexpr std::size_t kLineWidthMax = 100;

struct Finding {
  std::string path;
  std::size_t line;
  std::string advice;  ///< What is wrong and what to do.
};

/// "path:line: advice", as compilers write it.
[[nodiscard]] std::string to_string(const Finding& finding);

using Findings = std::vector<Finding>;

/// base <- d1 <- table <- sinks <- logger; table <- retention; cli sees all; nobody sees the tests.
/// A header in include/spillway counts as its component's.
[[nodiscard]] Findings check_directions(const SourceFile& file);

/// For headers in include/spillway: they include the standard library and each other, and only the
/// spdlog sink's and the logger's include spdlog.
[[nodiscard]] Findings check_public_includes(const SourceFile& file);

/// One place reads the clock, and no test waits for time to pass (kinds stress and process may).
[[nodiscard]] Findings check_time(const SourceFile& file);

/// The SPDX line, #pragma once, the length of files and lines.
[[nodiscard]] Findings check_form(const SourceFile& file);

/// `cmake` is a component's CMakeLists.txt: it must list each of `cpp_names`.
[[nodiscard]] Findings check_sources_listed(const SourceFile& cmake,
                                            const std::vector<std::string>& cpp_names);

/// `cmake` is tests/FOLDER/CMakeLists.txt: it must register each of `test_names` by
/// spillway_test(FOLDER NAME).
[[nodiscard]] Findings check_tests_registered(const SourceFile& cmake,
                                              const std::vector<std::string>& test_names);

/// A test is called SUBJECT_test.cpp or SUBJECT_KIND_test.cpp. `kinds` are those that
/// tests/CMakeLists.txt knows; words that mean a kind elsewhere are refused, for the test would run
/// as a unit test unnoticed.
[[nodiscard]] Findings check_test_name(const std::string& path, const std::set<std::string>& kinds);

/// Each ```cpp block of `document` is one of `examples` as a whole, without its SPDX line, or whole
/// lines of a function of it, so that what readers copy has been built and run. A document without
/// a block has one finding too.
[[nodiscard]] Findings check_samples(const SourceFile& document,
                                     const std::vector<SourceFile>& examples);

/// The headings of each page below docs/, by the page's path.
using Headings = std::map<std::string, std::set<std::string>, std::less<>>;

/// A heading of a page that a comment of `file` cites, as in `docs/facts.md, "Errors"`, is there.
[[nodiscard]] Findings check_citations(const SourceFile& file, const Headings& headings);

/// The headings of a Markdown text, of all levels, without those in code.
[[nodiscard]] std::set<std::string> headings_of(std::string_view markdown);

/// Each test that `document` names, as in `Gate.Opens` or `Gate.*`, is one of `tests`.
[[nodiscard]] Findings check_named_tests(const SourceFile& document,
                                         const std::set<std::string>& tests);

/// The tests in a C++ text, as "Suite.Name".
[[nodiscard]] std::set<std::string> tests_in(std::string_view source);

/// The words of SPILLWAY_TEST_KINDS in tests/CMakeLists.txt.
[[nodiscard]] std::set<std::string> test_kinds(std::string_view cmake);

}  // namespace spillway::house
