// SPDX-License-Identifier: MIT
//
// Goal: the source tree keeps the rules of the house that no compiler checks.
// Method: read every source and CMake file below SPILLWAY_SOURCE_DIR and apply house_rules.h, whose
// functions house_rules_test.cpp proves able to fail.
#include "tests/house/house_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

namespace spillway::house {
namespace {

namespace fs = std::filesystem;

constexpr const char* kComponents[] = {"base",   "d1",        "table", "sinks",
                                       "logger", "retention", "cli"};
constexpr const char* kOtherFolders[] = {"include", "tests", "examples", "bench"};

const fs::path& root() {
  static const fs::path path(SPILLWAY_SOURCE_DIR);
  return path;
}

SourceFile read(const std::string& path) {
  std::ifstream stream(root() / path, std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << path << ":1: cannot be read";
  std::ostringstream text;
  text << stream.rdbuf();
  return {path, text.str()};
}

// Paths of the C++ files in a folder and below it, in order. A folder that does not exist has none.
std::vector<std::string> cpp_files(const std::string& folder) {
  std::vector<std::string> paths;
  if (!fs::is_directory(root() / folder)) {
    return paths;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root() / folder)) {
    const std::string extension = entry.path().extension();
    if (extension == ".h" || extension == ".cpp") {
      paths.push_back(entry.path().lexically_relative(root()).generic_string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> all_files() {
  std::vector<std::string> paths;
  const auto add = [&](const char* folder) {
    const std::vector<std::string> more = cpp_files(folder);
    paths.insert(paths.end(), more.begin(), more.end());
  };
  std::for_each(std::begin(kComponents), std::end(kComponents), add);
  std::for_each(std::begin(kOtherFolders), std::end(kOtherFolders), add);
  return paths;
}

std::vector<std::string> names_ending_in(const std::vector<std::string>& paths,
                                         std::string_view end) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    if (path.ends_with(end)) {
      names.push_back(fs::path(path).filename());
    }
  }
  return names;
}

std::vector<std::string> test_folders() {
  std::vector<std::string> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(root() / "tests")) {
    if (entry.is_directory()) {
      folders.push_back(entry.path().filename());
    }
  }
  return folders;
}

std::vector<std::string> pages() {
  std::vector<std::string> paths;
  for (const fs::directory_entry& page : fs::directory_iterator(root() / "docs")) {
    if (page.path().extension() == ".md") {
      paths.push_back("docs/" + page.path().filename().string());
    }
  }
  return paths;
}

void report(const Findings& findings) {
  for (const Finding& finding : findings) {
    ADD_FAILURE() << to_string(finding);
  }
}

void apply(const std::function<Findings(const SourceFile&)>& check) {
  const std::vector<std::string> paths = all_files();
  ASSERT_GT(paths.size(), 20U) << "no source tree at " << root();
  for (const std::string& path : paths) {
    report(check(read(path)));
  }
}

TEST(Layout, DependsInOneDirection) { apply(check_directions); }

TEST(Layout, KeepsForeignHeadersOutOfThePublicOnes) { apply(check_public_includes); }

TEST(Layout, ReadsTheTimeInOnePlaceAndNeverWaitsInTests) { apply(check_time); }

TEST(Layout, KeepsTheFormOfFiles) { apply(check_form); }

TEST(Layout, BuildsEverySourceFile) {
  std::size_t folders = 0;
  for (const char* component : kComponents) {
    const std::vector<std::string> names = names_ending_in(cpp_files(component), ".cpp");
    if (!names.empty()) {
      report(check_sources_listed(read(std::string(component) + "/CMakeLists.txt"), names));
      ++folders;
    }
  }
  EXPECT_GT(folders, 0U);
}

TEST(Layout, BuildsEveryExampleAndShowsNoOtherCode) {
  const std::vector<std::string> paths = cpp_files("examples");
  ASSERT_FALSE(paths.empty());
  report(check_sources_listed(read("examples/CMakeLists.txt"), names_ending_in(paths, ".cpp")));
  std::vector<SourceFile> examples;
  std::transform(paths.begin(), paths.end(), std::back_inserter(examples), read);
  report(check_samples(read("README.md"), examples));
  report(check_samples(read("docs/logger.md"), examples));
}

TEST(Layout, RunsEveryTestFile) {
  std::size_t tests = 0;
  for (const std::string& folder : test_folders()) {
    const std::string place = "tests/" + folder;
    const std::vector<std::string> names = names_ending_in(cpp_files(place), "_test.cpp");
    if (!names.empty()) {  // Else it tests in another language.
      report(check_tests_registered(read(place + "/CMakeLists.txt"), names));
    }
    tests += names.size();
  }
  EXPECT_GT(tests, 2U);
}

TEST(Layout, CitesHeadingsThatExist) {
  Headings headings;
  for (const std::string& path : pages()) {
    headings[path] = headings_of(read(path).text);
  }
  ASSERT_TRUE(headings["docs/facts.md"].contains("Errors"));
  apply([&](const SourceFile& file) { return check_citations(file, headings); });
}

TEST(Layout, NamesInItsPagesOnlyTestsThatExist) {
  std::set<std::string> tests;
  for (const std::string& path : cpp_files("tests")) {
    tests.merge(tests_in(read(path).text));
  }
  ASSERT_TRUE(tests.contains("Layout.NamesInItsPagesOnlyTestsThatExist"));
  for (const std::string& path : pages()) {
    report(check_named_tests(read(path), tests));
  }
}

TEST(Layout, NamesTestsByKindsThatExist) {
  const std::set<std::string> kinds = test_kinds(read("tests/CMakeLists.txt").text);
  ASSERT_TRUE(kinds.contains("stress") && kinds.contains("style"));
  for (const std::string& folder : test_folders()) {
    for (const std::string& path : cpp_files("tests/" + folder)) {
      if (path.ends_with("_test.cpp")) {
        report(check_test_name(path, kinds));
      }
    }
  }
}

}  // namespace
}  // namespace spillway::house
