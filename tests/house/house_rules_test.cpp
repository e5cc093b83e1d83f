// SPDX-License-Identifier: MIT
//
// Goal: each rule of the house can fail, and does so at the right line. Method: small bad texts,
// and beside each the nearest good one.
#include "tests/house/house_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spillway::house {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::set<std::string>& kinds() {
  static const std::set<std::string> kinds = {"stress", "process", "style"};
  return kinds;
}

// The findings as "line: advice", for matchers.
std::vector<std::string> told(const Findings& findings) {
  std::vector<std::string> texts;
  for (const Finding& finding : findings) {
    texts.push_back(std::to_string(finding.line) + ": " + finding.advice);
  }
  return texts;
}

std::vector<std::string> directions(const std::string& path, const std::string& text) {
  return told(check_directions({path, text}));
}

std::vector<std::string> public_includes(const std::string& name, const std::string& text) {
  return told(check_public_includes({"include/spillway/" + name, text}));
}

std::vector<std::string> time_reads(const std::string& path, const std::string& text) {
  return told(check_time({path, text}));
}

std::vector<std::string> form(const std::string& path, const std::string& text) {
  return told(check_form({path, text}));
}

TEST(Finding, IsWrittenAsCompilersDo) {
  EXPECT_EQ(to_string(Finding{"base/utf8.cpp", 7, "wrong"}), "base/utf8.cpp:7: wrong");
}

TEST(Directions, MayNotPointBack) {
  EXPECT_THAT(directions("base/a.cpp", "\n#include \"d1/b.h\"\n"),
              ElementsAre(HasSubstr("2: base may not see d1 (d1/b.h)")));
  EXPECT_THAT(directions("d1/a.cpp", "#include \"table/b.h\"\n"), ElementsAre(HasSubstr("1: d1")));
  EXPECT_THAT(directions("table/a.h", "#include \"sinks/b.h\"\n"), ElementsAre(HasSubstr("table")));
  EXPECT_THAT(directions("sinks/a.h", "#include \"logger/b.h\"\n"),
              ElementsAre(HasSubstr("sinks")));
  EXPECT_THAT(directions("sinks/a.h", "#include \"cli/b.h\"\n"), ElementsAre(HasSubstr("cli")));
}

TEST(Directions, KeepRetentionAndSinksApart) {
  EXPECT_THAT(directions("retention/a.cpp", "#include \"sinks/b.h\"\n"),
              ElementsAre(HasSubstr("retention may not see sinks")));
  EXPECT_THAT(directions("sinks/a.cpp", "#include \"retention/b.h\"\n"),
              ElementsAre(HasSubstr("sinks may not see retention")));
}

TEST(Directions, AllowWhatIsBelow) {
  EXPECT_THAT(directions("sinks/a.cpp", "#include \"base/b.h\"\n#include \"table/c.h\"\n"),
              IsEmpty());
  EXPECT_THAT(directions("retention/a.cpp", "#include \"table/b.h\"\n"), IsEmpty());
  EXPECT_THAT(directions("cli/a.cpp", "#include \"sinks/b.h\"\n#include \"retention/b.h\"\n"),
              IsEmpty());
  EXPECT_THAT(directions("d1/a.cpp", "#include <sqlite3.h>\n#include <string>\n"), IsEmpty());
  EXPECT_THAT(directions("tests/base/a_test.cpp", "#include \"sinks/b.h\"\n"), IsEmpty());
}

TEST(Directions, CountAPublicHeaderAsItsComponents) {
  EXPECT_THAT(directions("d1/a.cpp", "#include <spillway/pipeline.h>\n"),
              ElementsAre(HasSubstr("d1 may not see sinks (include/spillway/pipeline.h)")));
  EXPECT_THAT(directions("include/spillway/status.h", "#include <spillway/database.h>\n"),
              ElementsAre(HasSubstr("base may not see d1")));
  EXPECT_THAT(directions("include/spillway/pipeline.h", "#include <spillway/status.h>\n"),
              IsEmpty());
}

TEST(Directions, AskForTheOwnerOfANewPublicHeader) {
  EXPECT_THAT(directions("include/spillway/unheard_of.h", ""),
              ElementsAre(HasSubstr("without an owner")));
  EXPECT_THAT(directions("include/spillway/testing/fake_clock.h", ""), IsEmpty());
}

TEST(Directions, KeepTestToolsOutOfTheProduct) {
  EXPECT_THAT(directions("base/a.cpp", "#include \"tests/support/temp_dir.h\"\n"),
              ElementsAre(HasSubstr("for tests only")));
  EXPECT_THAT(directions("cli/a.cpp", "#include <spillway/testing/fake_clock.h>\n"),
              ElementsAre(HasSubstr("for tests only")));
}

TEST(PublicIncludes, MayNotBeForeign) {
  for (const char* header :
       {"curl/curl.h", "sqlite3.h", "nlohmann/json.hpp", "fmt/format.h", "CLI/CLI.hpp"}) {
    const std::string text = "#include <string>\n#include <" + std::string(header) + ">\n";
    EXPECT_THAT(public_includes("pipeline.h", text),
                ElementsAre(HasSubstr("2: a public header includes <" + std::string(header))));
  }
  EXPECT_THAT(public_includes("testing/fake_clock.h", "#include <fmt/core.h>\n"),
              ElementsAre(HasSubstr("1: ")));
}

TEST(PublicIncludes, MayNotBeHeadersThatAreNotInstalled) {
  EXPECT_THAT(public_includes("pipeline.h", "#include \"base/utf8.h\"\n"),
              ElementsAre(HasSubstr("not installed")));
}

TEST(PublicIncludes, MayBeSpdlogForSinkAndLoggerOnly) {
  const std::string text = "#include <spdlog/sinks/base_sink.h>\n";
  EXPECT_THAT(public_includes("pipeline.h", text), ElementsAre(HasSubstr("spdlog")));
  EXPECT_THAT(public_includes("database_sink.h", text), IsEmpty());
  EXPECT_THAT(public_includes("logger_fields.h", text), IsEmpty());
}

TEST(PublicIncludes, MayBeAnythingOutsideThePublicFolder) {
  EXPECT_THAT(told(check_public_includes({"d1/a.cpp", "#include <sqlite3.h>\n"})), IsEmpty());
}

TEST(Time, IsReadInOnePlace) {
  const std::string text = "\nauto now = std::chrono::steady_clock::now();\n";
  EXPECT_THAT(time_reads("sinks/a.cpp", text), ElementsAre(HasSubstr("2: steady_clock::now")));
  EXPECT_THAT(time_reads("include/spillway/pipeline.h", text), testing::SizeIs(1));
  EXPECT_THAT(time_reads("base/clock.cpp", text), IsEmpty());
  EXPECT_THAT(time_reads("cli/a.cpp", "std::time(nullptr);"), testing::SizeIs(1));
  EXPECT_THAT(time_reads("d1/a.cpp", "clock_gettime(CLOCK_REALTIME, &t);"), testing::SizeIs(1));
}

TEST(Time, IsNotReadInTests) {
  const std::string text = "auto now = std::chrono::system_clock::now();\n";
  EXPECT_THAT(time_reads("tests/sinks/a_test.cpp", text), testing::SizeIs(1));
  EXPECT_THAT(time_reads("tests/sinks/a_fault_test.cpp", text), testing::SizeIs(1));
  EXPECT_THAT(time_reads("tests/sinks/a_stress_test.cpp", text), IsEmpty());
  EXPECT_THAT(time_reads("tests/cli/a_process_test.cpp", text), IsEmpty());
  EXPECT_THAT(time_reads("tests/support/temp_dir.cpp", text), IsEmpty());
}

TEST(Time, IsNotWaitedForInTests) {
  for (const char* wait : {"std::this_thread::sleep_for(1ms);", "sleep_until(t);", "usleep(1);",
                           "nanosleep(&t, nullptr);", "::sleep(1);"}) {
    EXPECT_THAT(time_reads("tests/sinks/a_test.cpp", wait), testing::SizeIs(1)) << wait;
  }
}

TEST(Time, MayBeMentioned) {
  EXPECT_THAT(time_reads("tests/sinks/a_test.cpp", "// sleep_for\nauto s = \"usleep(1)\";\n"),
              IsEmpty());
  EXPECT_THAT(time_reads("tests/sinks/a_test.cpp", "runtime(nullptr); oversleep(1);"), IsEmpty());
}

TEST(Form, AsksForTheLicenseInTheFirstLine) {
  EXPECT_THAT(form("base/a.cpp", ""), ElementsAre(HasSubstr("1: the first line")));
  EXPECT_THAT(form("base/a.cpp", "\n// SPDX-License-Identifier: MIT\n"), testing::SizeIs(1));
  EXPECT_THAT(form("base/a.cpp", "// SPDX-License-Identifier: MIT\n"), IsEmpty());
}

TEST(Form, AsksForPragmaOnceInHeaders) {
  const std::string license = "// SPDX-License-Identifier: MIT\n";
  EXPECT_THAT(form("base/a.h", license + "// #pragma once\n"), ElementsAre(HasSubstr("#pragma")));
  EXPECT_THAT(form("base/a.h", license + "#pragma once\n"), IsEmpty());
}

TEST(Form, LimitsTheLengthOfAFile) {
  std::string text = "// SPDX-License-Identifier: MIT\n" + std::string(kFileLinesMax - 1, '\n');
  EXPECT_THAT(form("base/a.cpp", text), IsEmpty());
  text += '\n';
  EXPECT_THAT(form("base/a.cpp", text), ElementsAre(HasSubstr("601: over 600 lines")));
}

TEST(Form, LimitsTheWidthOfALineInCharacters) {
  const std::string license = "// SPDX-License-Identifier: MIT\n";
  std::string wide;
  for (std::size_t i = 0; i < kLineWidthMax; ++i) {
    wide += "\u00E9";
  }
  EXPECT_THAT(form("base/a.cpp", license + wide + "\n"), IsEmpty());
  EXPECT_THAT(form("base/a.cpp", license + wide + "x\n"), ElementsAre(HasSubstr("2: over 100")));
}

TEST(SourcesListed, NamesAFileThatIsNotBuilt) {
  const SourceFile cmake = {"cli/CMakeLists.txt",
                            "spillway_component(cli\n  SOURCES a.cpp b.cpp  # not.cpp\n)\n"
                            "add_executable(spillway main.cpp)\n"};
  EXPECT_THAT(told(check_sources_listed(cmake, {"a.cpp", "b.cpp", "main.cpp"})), IsEmpty());
  EXPECT_THAT(told(check_sources_listed(cmake, {"a.cpp", "not.cpp", "c.cpp"})),
              ElementsAre(HasSubstr("not.cpp is not built"), HasSubstr("c.cpp is not built")));
}

TEST(TestsRegistered, NamesATestThatNeverRuns) {
  const SourceFile cmake = {"tests/base/CMakeLists.txt",
                            "spillway_test(base a_test.cpp)\n"
                            "spillway_test(base b_stress_test.cpp TIMEOUT 9)\n"
                            "# spillway_test(base off_test.cpp)\n"
                            "spillway_test(d1 other_test.cpp)\n"};
  EXPECT_THAT(told(check_tests_registered(cmake, {"a_test.cpp", "b_stress_test.cpp"})), IsEmpty());
  EXPECT_THAT(told(check_tests_registered(cmake, {"off_test.cpp", "other_test.cpp"})),
              ElementsAre(HasSubstr("add spillway_test(base off_test.cpp)"),
                          HasSubstr("add spillway_test(base other_test.cpp)")));
}

TEST(TestName, MayNotEndWithAKindOfElsewhere) {
  EXPECT_THAT(told(check_test_name("tests/sinks/gate_integration_test.cpp", kinds())),
              ElementsAre(HasSubstr("take one of process stress style")));
  EXPECT_THAT(told(check_test_name("tests/sinks/gate_unit_test.cpp", kinds())),
              ElementsAre(HasSubstr("unit is not a kind")));
}

TEST(TestName, SaysWhatItTests) {
  EXPECT_THAT(told(check_test_name("tests/sinks/stress_test.cpp", kinds())),
              ElementsAre(HasSubstr("not what it tests")));
  EXPECT_THAT(told(check_test_name("tests/sinks/gate_stress_test.cpp", kinds())), IsEmpty());
  EXPECT_THAT(told(check_test_name("tests/sinks/record_queue_test.cpp", kinds())), IsEmpty());
}

TEST(Samples, AreWholeFilesOfTheExamples) {
  std::vector<SourceFile> examples = {{"examples/a.cpp", "// SPDX\nint a;\n"},
                                      {"examples/b.cpp", "// SPDX\nint b;\nint c;\n"}};
  const auto samples = [&](const std::string& text) {
    return told(check_samples({"README.md", text}, examples));
  };
  EXPECT_THAT(samples("x\n\n```cpp\nint b;\nint c;\n```\n\n```cpp\nint a;\n```\n"), IsEmpty());
  EXPECT_THAT(samples("x\n\n```cpp\nint b;\n```\n\n```cpp\nint a;\n```\ny\n"),
              ElementsAre(HasSubstr("3: is no file of examples/")));
  examples.push_back({"examples/c.cpp", "// SPDX\nint f() {\n  int d;\n\n  return d;\n}\n"});
  EXPECT_THAT(samples("x\n\n```cpp\nint d;\n\nreturn d;\n```\n"), IsEmpty());
  EXPECT_THAT(samples("x\n\n```cpp\nint d;\nreturn d;\n```\n"), testing::SizeIs(1));
  EXPECT_THAT(samples("```sh\nls\n```\n"), ElementsAre(HasSubstr("1: shows no C++")));
}

TEST(Citations, NameHeadingsThatThePageHas) {
  const Headings headings = {{"docs/a.md", {"One", "Two words"}}};
  const auto cited = [&](const std::string& text) {
    return told(check_citations({"d1/a.h", text}, headings));
  };
  EXPECT_THAT(cited("// See docs/a.md, \"One\", and docs/a.md, \"Two\n// words\".\n"), IsEmpty());
  EXPECT_THAT(cited("// See docs/a.md\n  /// and docs/a.md,\n  /// \"Two words\".\n"), IsEmpty());
  EXPECT_THAT(cited("\n// See docs/a.md, \"Two\n// word\".\n"),
              ElementsAre(HasSubstr("2: docs/a.md has no heading \"Two word\"")));
  EXPECT_THAT(cited("// docs/b.md, \"One\"\n"), ElementsAre(HasSubstr("docs/b.md has no")));
}

TEST(HeadingsOf, AreThoseOutsideOfCode) {
  EXPECT_THAT(
      headings_of("# One\n\ntext # not\n#not\n### Two words\n```\n# not\n```\n## Three\n#\n"),
      ElementsAre("One", "Three", "Two words"));
}

TEST(NamedTests, AreThere) {
  const auto named = [](const std::string& text) {
    return told(check_named_tests({"docs/a.md", text}, {"Gate.Opens", "GateLate.Shuts"}));
  };
  EXPECT_THAT(named("`Gate.Opens`, `GateLate.*` | `gate.h`, `CMakeLists.txt`, `` `A`. `B\n"),
              IsEmpty());
  EXPECT_THAT(named("\n`Gate.Opens` `Gate.Open`, `Gat.*`\n`Gate.Shuts`\n"),
              ElementsAre(HasSubstr("2: there is no test Gate.Open;"), HasSubstr("2: "),
                          HasSubstr("3: there is no test Gate.Shuts;")));
}

TEST(TestsIn, AreThoseOfEachKind) {
  EXPECT_THAT(tests_in("TEST(A, B) {\nTEST_F(C,\n       D) {\n  TEST_P(E, F) {\nEXPECT(G, H);\n"),
              ElementsAre("A.B", "C.D", "E.F"));
}

TEST(TestKinds, AreReadFromCMake) {
  EXPECT_EQ(test_kinds("set(OTHER x)\nset(SPILLWAY_TEST_KINDS stress process\n style)\n"), kinds());
  EXPECT_THAT(test_kinds("# set(SPILLWAY_TEST_KINDS stress)\n"), IsEmpty());
}

}  // namespace
}  // namespace spillway::house
