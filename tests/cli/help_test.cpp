// SPDX-License-Identifier: MIT
#include "cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "cli/closing_line.h"
#include "cli/log_options.h"
#include "cli/query_options.h"
#include "cli/retention_help.h"
#include "cli/retention_options.h"
#include "cli/tail_options.h"

#include <string>

namespace spillway {
namespace {

using ::testing::HasSubstr;

// Each option of `command` begins a line of its help; SQL is named in it.
void expect_every_option(const CLI::App& command, const std::string& help) {
  for (const CLI::Option* option : command.get_options()) {
    const bool is_positional = option->get_positional();
    EXPECT_THAT(help, HasSubstr((is_positional ? " " : "\n  ") + option->get_name(is_positional)))
        << "see cli/help.cpp";
  }
}

TEST(Help, ExplainsEveryOptionOfLog) {
  CLI::App command;
  command.set_help_flag();  // Without it.
  LogOptions options;
  add_log_options(command, options);
  ASSERT_GT(command.get_options().size(), 5U);
  expect_every_option(command, log_help());
}

TEST(Help, ExplainsEveryOptionOfTail) {
  CLI::App command;
  command.set_help_flag();
  TailOptions options;
  add_tail_options(command, options, {});
  ASSERT_EQ(command.get_options().size(), 12U);
  expect_every_option(command, tail_help());
}

TEST(Help, ExplainsEveryOptionOfQuery) {
  CLI::App command;
  command.set_help_flag();
  QueryOptions options;
  add_query_options(command, options);
  ASSERT_EQ(command.get_options().size(), 4U);
  expect_every_option(command, query_help());
}

TEST(Help, ExplainsEveryTermOfTheClosingLine) {
  const std::string line = closing_line({});
  int terms = 0;
  for (std::size_t begin = line.find('"'); begin != std::string::npos;
       begin = line.find('"', begin)) {
    const std::size_t end = line.find('"', begin + 1);
    const std::string term = line.substr(begin + 1, end - begin - 1);
    EXPECT_THAT(log_help(), HasSubstr("\n  " + term + " ")) << "see cli/help.cpp";
    begin = end + 1;
    ++terms;
  }
  EXPECT_EQ(terms, 10);
}

TEST(Help, ExplainsEveryOptionOfRetention) {
  for (const RetentionOption& option : all_retention_options()) {
    const std::string name = option.name;
    EXPECT_THAT(retention_help(), HasSubstr((name == "FILE" ? " " : "\n  ") + name + ' '))
        << "see cli/retention_help.cpp";
  }
}

TEST(Help, FitsATerminal) {
  for (const std::string& text :
       {program_help(), log_help(), tail_help(), query_help(), retention_help()}) {
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
      EXPECT_LE(end - begin, 92U) << text.substr(begin, end - begin);
      begin = end + 1;
    }
    EXPECT_EQ(begin, text.size()) << "the last line has no end";
  }
}

}  // namespace
}  // namespace spillway
