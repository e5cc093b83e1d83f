// SPDX-License-Identifier: MIT
//
// Children: copies of the test program that run a function each and start together.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace spillway::testing {

/// What each of `count` children answered; an empty text is what a child that died answers too, so
/// let success be a word.
inline std::vector<std::string> run_children(int count,
                                             const std::function<std::string(int)>& body) {
  struct Child {
    pid_t pid;
    int answer;
  };
  std::array<int, 2> start{};
  EXPECT_EQ(::pipe(start.data()), 0);
  std::vector<Child> children;
  for (int number = 0; number < count; ++number) {
    std::array<int, 2> answer{};
    EXPECT_EQ(::pipe(answer.data()), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(start[1]);
      char ignored = 0;
      [[maybe_unused]] const auto began = ::read(start[0], &ignored, 1);  // Until all are there.
      const std::string text = body(number);
      [[maybe_unused]] const auto wrote = ::write(answer[1], text.data(), text.size());
      ::_exit(0);  // Not through main: the parent's test is not the child's.
    }
    ::close(answer[1]);
    children.push_back({pid, answer[0]});
  }
  ::close(start[0]);
  ::close(start[1]);

  std::vector<std::string> answers;
  for (const Child& child : children) {
    std::string text(4096, '\0');
    const ssize_t bytes = ::read(child.answer, text.data(), text.size());
    text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    answers.push_back(std::move(text));
    ::close(child.answer);
    ::waitpid(child.pid, nullptr, 0);
  }
  return answers;
}

}  // namespace spillway::testing
