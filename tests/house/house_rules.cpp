// SPDX-License-Identifier: MIT
#include "tests/house/house_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <regex>

namespace spillway::house {
namespace {

using Names = std::set<std::string, std::less<>>;

// What each folder may include.
const std::map<std::string, Names, std::less<>>& allowed_components() {
  static const std::map<std::string, Names, std::less<>> allowed = {
      {"base", {"base"}},
      {"d1", {"base", "d1"}},
      {"table", {"base", "d1", "table"}},
      {"sinks", {"base", "d1", "table", "sinks"}},
      {"logger", {"base", "d1", "table", "sinks", "logger"}},
      {"retention", {"base", "d1", "table", "retention"}},
      {"cli", {"base", "d1", "table", "sinks", "logger", "retention", "cli"}},
  };
  return allowed;
}

// Whose face each public header is. A new one is entered here.
const std::map<std::string, std::string, std::less<>>& public_header_owners() {
  static const std::map<std::string, std::string, std::less<>> owners = {
      {"clock.h", "base"},
      {"field.h", "base"},
      {"field_form.h", "base"},
      {"record.h", "base"},
      {"status.h", "base"},
      {"d1_database.h", "d1"},
      {"database.h", "d1"},
      {"insert_if_below.h", "d1"},
      {"prepared_statement.h", "d1"},
      {"result_set.h", "d1"},
      {"retry.h", "d1"},
      {"retry_budget.h", "d1"},
      {"retry_policy.h", "d1"},
      {"retrying_database.h", "d1"},
      {"sleeper.h", "d1"},
      {"sqlite_database.h", "d1"},
      {"database_sink.h", "sinks"},
      {"overload_policy.h", "sinks"},
      {"pipeline.h", "sinks"},
      {"retry_log.h", "sinks"},
      {"stats.h", "sinks"},
      {"log_target.h", "logger"},
      {"logger.h", "logger"},
      {"logger_spdlog.h", "logger"},
      {"scoped_context.h", "logger"},
      {"retention.h", "retention"},
  };
  return owners;
}

constexpr std::string_view kPublicFolder = "include/spillway/";
constexpr std::string_view kTestToolsFolder = "include/spillway/testing/";

constexpr std::array<std::string_view, 7> kClockReads = {
    "system_clock::now", "steady_clock::now", "high_resolution_clock::now",
    "clock_gettime(",    "gettimeofday(",     "time(nullptr)",
    "time(NULL)",
};

constexpr std::array<std::string_view, 5> kWaits = {"sleep_for", "sleep_until", "usleep(",
                                                    "nanosleep(", "sleep("};

const Names& foreign_kinds() {
  static const Names words = {"unit",  "integration", "system", "e2e",    "smoke", "slow", "perf",
                              "bench", "fuzz",        "live",   "thread", "race",  "sim",  "kill"};
  return words;
}

// All but the first line, which names the licence.
std::string_view body_of(std::string_view text) { return text.substr(text.find('\n') + 1); }

bool is_header(std::string_view path) { return path.ends_with(".h"); }

bool is_name(std::string_view word) {
  return !word.empty() && word[0] >= 'A' && word[0] <= 'Z' &&
         std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

// What stands in a line between two backticks and has the form of a test's name.
std::vector<std::string> test_names_in(std::string_view line) {
  std::vector<std::string> names;
  for (std::size_t begin = line.find('`'); begin != std::string_view::npos;) {
    const std::size_t end = line.find('`', begin + 1);
    const std::string_view word = line.substr(begin + 1, end - begin - 1);
    const std::size_t dot = std::min(word.find('.'), word.size());
    const std::string_view test = word.substr(std::min(dot + 1, word.size()));
    if (is_name(word.substr(0, dot)) && (test == "*" || is_name(test))) {
      names.emplace_back(word);
    }
    begin = end == std::string_view::npos ? end : line.find('`', end + 1);
  }
  return names;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// "gate_stress" of tests/sinks/gate_stress_test.cpp.
std::string test_stem(std::string_view path) {
  std::string_view stem = file_name(path);
  if (stem.ends_with("_test.cpp")) {
    stem.remove_suffix(std::string_view("_test.cpp").size());
  }
  return std::string(stem);
}

std::string last_word(const std::string& stem) { return stem.substr(stem.rfind('_') + 1); }

// The component of a file of ours, or nothing for tests, examples and test tools.
std::string_view component_of(std::string_view path) {
  if (path.starts_with(kTestToolsFolder)) {
    return {};
  }
  if (path.starts_with(kPublicFolder)) {
    const auto owner = public_header_owners().find(path.substr(kPublicFolder.size()));
    return owner == public_header_owners().end() ? std::string_view() : owner->second;
  }
  const std::string_view folder = first_folder(path);
  return allowed_components().contains(folder) ? folder : std::string_view();
}

// Where an include leads, as a path from the root; headers of others lead nowhere.
std::string path_of(const Include& include) {
  if (include.header.starts_with("spillway/")) {
    return "include/" + include.header;
  }
  return include.is_quoted ? include.header : std::string();
}

bool is_public_without_owner(std::string_view path) {
  return path.starts_with(kPublicFolder) && !path.starts_with(kTestToolsFolder) &&
         component_of(path).empty();
}

std::string direction_advice(std::string_view from, const std::string& target) {
  if (target.starts_with("tests/") || target.starts_with(kTestToolsFolder)) {
    return "includes " + target + ", which is for tests only; move what is needed into " +
           std::string(from) + "/";
  }
  const std::string_view to = component_of(target);
  if (to.empty() || allowed_components().find(from)->second.contains(to)) {
    return {};
  }
  return std::string(from) + " may not see " + std::string(to) + " (" + target +
         "); turn the dependency round or move what both need down";
}

bool may_include_spdlog(std::string_view path) {
  const std::string_view name = file_name(path);
  return name == "database_sink.h" || name == "retry_log.h" || name.starts_with("logger");
}

std::string public_include_advice(std::string_view path, const Include& include) {
  static const Names foreign = {"curl", "sqlite3.h", "sqlite3ext.h", "nlohmann", "fmt", "CLI"};
  if (include.is_quoted) {
    return "a public header includes \"" + include.header +
           "\", which is not installed; include a <spillway/…> header or forward-declare";
  }
  const std::string_view folder = first_folder(include.header);
  const std::string_view first = folder.empty() ? std::string_view(include.header) : folder;
  if (foreign.contains(first)) {
    return "a public header includes <" + include.header + ">; hide it in a .cpp";
  }
  if (first == "spdlog" && !may_include_spdlog(path)) {
    return "only database_sink.h, retry_log.h and logger*.h may include spdlog; move this there";
  }
  return {};
}

template <typename Words>
void find_words(const SourceFile& file, const Words& words, const std::string& advice,
                Findings& findings) {
  const std::string code = code_of(file.text);
  for (const std::string_view word : words) {
    for (const std::size_t line : lines_with(code, word)) {
      findings.push_back({file.path, line, std::string(word) + ": " + advice});
    }
  }
}

// Arguments of all calls of `command` in a CMake file, comments taken out.
std::vector<std::vector<std::string>> calls_of(std::string_view cmake, std::string_view command) {
  std::string text;
  for (const std::string_view line : lines_of(cmake)) {
    text += std::string(line.substr(0, line.find('#'))) + '\n';
  }
  std::vector<std::vector<std::string>> calls;
  const std::string opening = std::string(command) + '(';
  for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
    at += opening.size();
    std::vector<std::string>& words = calls.emplace_back(1);
    for (; at < text.size() && text[at] != ')'; ++at) {
      const bool is_blank = text[at] == ' ' || text[at] == '\n' || text[at] == '\t';
      if (!is_blank) {
        words.back() += text[at];
      } else if (!words.back().empty()) {
        words.emplace_back();
      }
    }
  }
  return calls;
}

// `text` with each line's end and the comment sign after it turned into blanks, so that a sentence
// that goes over several lines stands on one; every other character keeps its place.
std::string joined_comments(const std::string& text) {
  static const std::regex line_end(R"(\n *//+)");
  std::string joined = text;
  for (std::sregex_iterator match(text.begin(), text.end(), line_end), end; match != end; ++match) {
    joined.replace(static_cast<std::size_t>(match->position()),
                   static_cast<std::size_t>(match->length()),
                   static_cast<std::size_t>(match->length()), ' ');
  }
  return joined;
}

std::string with_single_blanks(const std::string& text) {
  return std::regex_replace(text, std::regex(" +"), " ");
}

bool is_among(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string to_string(const Finding& finding) {
  return finding.path + ":" + std::to_string(finding.line) + ": " + finding.advice;
}

Findings check_directions(const SourceFile& file) {
  Findings findings;
  if (is_public_without_owner(file.path)) {
    findings.push_back({file.path, 1,
                        "a public header without an owner; enter it in public_header_owners() of "
                        "tests/house/house_rules.cpp"});
  }
  const std::string_view from = component_of(file.path);
  if (from.empty()) {
    return findings;
  }
  for (const Include& include : includes_of(file.text)) {
    std::string advice = direction_advice(from, path_of(include));
    if (!advice.empty()) {
      findings.push_back({file.path, include.line, std::move(advice)});
    }
  }
  return findings;
}

Findings check_public_includes(const SourceFile& file) {
  Findings findings;
  if (!file.path.starts_with(kPublicFolder)) {
    return findings;
  }
  for (const Include& include : includes_of(file.text)) {
    std::string advice = public_include_advice(file.path, include);
    if (!advice.empty()) {
      findings.push_back({file.path, include.line, std::move(advice)});
    }
  }
  return findings;
}

Findings check_time(const SourceFile& file) {
  Findings findings;
  if (file.path.starts_with("tests/support/") || file.path == "base/clock.cpp") {
    return findings;
  }
  if (!file.path.starts_with("tests/")) {
    if (!component_of(file.path).empty()) {
      find_words(file, kClockReads, "only base/clock.cpp reads the time; take a Clock or a time",
                 findings);
    }
    return findings;
  }
  const std::string kind = last_word(test_stem(file.path));
  if (kind != "stress" && kind != "process") {
    find_words(file, kClockReads, "tests use a FakeClock (kinds stress and process excepted)",
               findings);
    find_words(file, kWaits,
               "tests do not wait for time to pass (kinds stress and process excepted)", findings);
  }
  return findings;
}

Findings check_form(const SourceFile& file) {
  Findings findings;
  const std::vector<std::string_view> lines = lines_of(file.text);
  if (lines.empty() || lines.front() != "// SPDX-License-Identifier: MIT") {
    findings.push_back({file.path, 1, "the first line must be // SPDX-License-Identifier: MIT"});
  }
  if (lines.size() > kFileLinesMax) {
    findings.push_back({file.path, kFileLinesMax + 1, "over 600 lines; split it by subject"});
  }
  if (is_header(file.path) && lines_with(code_of(file.text), "#pragma once").empty()) {
    findings.push_back({file.path, 1, "a header without #pragma once"});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (width_of(lines[i]) > kLineWidthMax) {
      findings.push_back({file.path, i + 1, "over 100 characters; break the line"});
    }
  }
  return findings;
}

Findings check_sources_listed(const SourceFile& cmake, const std::vector<std::string>& cpp_names) {
  std::vector<std::string> listed;
  for (const char* command : {"spillway_component", "add_executable", "add_library"}) {
    for (const std::vector<std::string>& words : calls_of(cmake.text, command)) {
      listed.insert(listed.end(), words.begin(), words.end());
    }
  }
  Findings findings;
  for (const std::string& name : cpp_names) {
    if (!is_among(listed, name)) {
      findings.push_back({cmake.path, 1, name + " is not built; list it or delete it"});
    }
  }
  return findings;
}

Findings check_tests_registered(const SourceFile& cmake,
                                const std::vector<std::string>& test_names) {
  const std::string_view folder =
      file_name(std::string_view(cmake.path).substr(0, cmake.path.rfind('/')));
  std::vector<std::string> registered;
  for (const std::vector<std::string>& words : calls_of(cmake.text, "spillway_test")) {
    if (words.size() >= 2 && words[0] == folder) {
      registered.push_back(words[1]);
    }
  }
  Findings findings;
  for (const std::string& name : test_names) {
    if (!is_among(registered, name)) {
      findings.push_back(
          {cmake.path, 1,
           name + " never runs; add spillway_test(" + std::string(folder) + " " + name + ")"});
    }
  }
  return findings;
}

Findings check_test_name(const std::string& path, const std::set<std::string>& kinds) {
  const std::string stem = test_stem(path);
  const std::string last = last_word(stem);
  if (kinds.contains(last)) {
    return stem == last ? Findings{{path, 1, "the name says its kind, but not what it tests"}}
                        : Findings{};
  }
  if (!foreign_kinds().contains(last)) {
    return {};
  }
  std::string known;
  for (const std::string& kind : kinds) {
    known += " " + kind;
  }
  return {{path, 1, last + " is not a kind here; leave it out or take one of" + known}};
}

// Whether `block` is the whole example, or some of its statements: lines of a function's body,
// which are set in by two blanks there.
bool is_sample(std::string_view block, std::string_view example) {
  std::string inner = "\n";
  bool is_at_begin = true;
  for (const char c : block) {
    inner += is_at_begin && c != '\n' ? "  " : "";
    inner += c;
    is_at_begin = c == '\n';
  }
  return block == body_of(example) || example.find(inner) != std::string_view::npos;
}

Findings check_samples(const SourceFile& document, const std::vector<SourceFile>& examples) {
  constexpr std::string_view kBegin = "\n```cpp\n";
  constexpr std::string_view kEnd = "\n```\n";
  const std::string_view text = document.text;
  Findings findings;
  std::size_t blocks = 0;
  for (std::size_t at = text.find(kBegin); at < text.size(); at = text.find(kBegin, at)) {
    const auto line =
        static_cast<std::size_t>(std::count(text.begin(), text.begin() + at, '\n')) + 2;
    at += kBegin.size();
    const std::string_view block = text.substr(at, text.find(kEnd, at) + 1 - at);
    if (std::none_of(examples.begin(), examples.end(),
                     [&](const SourceFile& example) { return is_sample(block, example.text); })) {
      findings.push_back({document.path, line,
                          "is no file of examples/, nor lines of a function there; copy them"});
    }
    ++blocks;
  }
  if (blocks == 0) {
    findings.push_back(
        {document.path, 1, "shows no C++; put a file of examples/ into a ```cpp block"});
  }
  return findings;
}

Findings check_citations(const SourceFile& file, const Headings& headings) {
  static const std::regex citation(R"re((docs/[\w./-]+\.md), +"([^"\n]*)")re");
  Findings findings;
  if (file.text.find("docs/") == std::string::npos) {
    return findings;  // Most files: the search is slow.
  }
  const std::string text = joined_comments(file.text);
  for (std::sregex_iterator match(text.begin(), text.end(), citation), end; match != end; ++match) {
    const auto page = headings.find((*match)[1].str());
    const std::string heading = with_single_blanks((*match)[2]);
    if (page == headings.end() || !page->second.contains(heading)) {
      const auto lines = std::count(file.text.begin(), file.text.begin() + match->position(), '\n');
      findings.push_back(
          {file.path, static_cast<std::size_t>(lines) + 1,
           (*match)[1].str() + " has no heading \"" + heading + "\"; cite one that it has"});
    }
  }
  return findings;
}

std::set<std::string> headings_of(std::string_view markdown) {
  std::set<std::string> headings;
  bool is_code = false;
  for (const std::string_view line : lines_of(markdown)) {
    is_code = line.starts_with("```") ? !is_code : is_code;
    const std::size_t level = line.find_first_not_of('#');
    if (!is_code && level != 0 && level < line.size() && line[level] == ' ') {
      headings.emplace(line.substr(level + 1));
    }
  }
  return headings;
}

Findings check_named_tests(const SourceFile& document, const std::set<std::string>& tests) {
  Findings findings;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(document.text)) {
    ++number;
    for (const std::string& name : test_names_in(line)) {
      const auto found = tests.lower_bound(name.substr(0, name.find('*')));
      const bool is_there =
          found != tests.end() &&
          (name.ends_with('*') ? found->starts_with(name.substr(0, name.size() - 1))
                               : *found == name);
      if (!is_there) {
        findings.push_back({document.path, number, "there is no test " + name + "; name one"});
      }
    }
  }
  return findings;
}

std::set<std::string> tests_in(std::string_view source) {
  std::set<std::string> tests;
  for (const std::string_view macro : {"TEST(", "TEST_F(", "TEST_P("}) {
    for (std::size_t at = source.find(macro); at < source.size(); at = source.find(macro, at)) {
      at += macro.size();
      std::string name;
      for (; at < source.size() && source[at] != ')'; ++at) {
        name += source[at] == ',' ? '.' : source[at];
      }
      std::erase_if(name, [](char c) { return c == ' ' || c == '\n'; });
      tests.insert(std::move(name));
    }
  }
  return tests;
}

std::set<std::string> test_kinds(std::string_view cmake) {
  std::set<std::string> kinds;
  for (const std::vector<std::string>& words : calls_of(cmake, "set")) {
    if (words.front() == "SPILLWAY_TEST_KINDS") {
      kinds.insert(words.begin() + 1, words.end());
    }
  }
  kinds.erase("");
  return kinds;
}

}  // namespace spillway::house
