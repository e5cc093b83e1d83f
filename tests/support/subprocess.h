// SPDX-License-Identifier: MIT
//
// Subprocess: runs a program as its user would, without a shell, and sees what it says.
//
// stdout and stderr are kept in unnamed files, so that a program that says much never waits for the
// test. For one thread. The destructor kills a program that still runs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway::testing {

struct ProcessOptions {
  std::vector<std::string> argv;                              ///< argv[0]: the program's path.
  std::vector<std::pair<std::string, std::string>> env = {};  ///< In addition to the test's own.
  std::filesystem::path working_directory = {};               ///< Empty: the test's own.
  /// Empty: stdin is a pipe that `feed` fills. Otherwise this file.
  std::filesystem::path stdin_file = {};
  bool is_stdin_non_blocking = false;      ///< Hand the pipe over in non-blocking mode.
  std::filesystem::path stdout_file = {};  ///< Empty: kept. Otherwise written there, /dev/full say.
  std::optional<uid_t> uid = std::nullopt;  ///< Run as this user and group; needs root.
  std::vector<int> closed_fds = {};         ///< Closed before the program begins.
};

struct ProcessResult {
  int exit_code = -1;  ///< -1: it did not exit by itself.
  int signal = 0;      ///< What ended it, or 0.
  bool has_timed_out = false;
  std::string out;
  std::string err;
};

class Subprocess {
 public:
  /// Aborts the test program when there is no process to be had. That the program itself cannot be
  /// run shows as exit code 127.
  explicit Subprocess(const ProcessOptions& options);
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  ~Subprocess();

  /// Writes all of `bytes` to its stdin. False if it does not read any more.
  bool feed(std::string_view bytes);
  void close_stdin();
  void send_signal(int number) const;
  /// Sends SIGSTOP, and returns once it stands still; false: it has ended.
  [[nodiscard]] bool halt() const;

  /// What it has said so far.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  /// True as soon as `text` is in what it said on stdout or stderr; false after `timeout`.
  [[nodiscard]] bool wait_for_text(std::string_view text, std::chrono::milliseconds timeout) const;

  enum class Handler { kInstalled, kGone };
  /// True as soon as it catches the signal, or does so no more; false after `timeout`. A signal
  /// that comes before there is a handler ends it.
  [[nodiscard]] bool wait_for_handler(int number, Handler handler,
                                      std::chrono::milliseconds timeout) const;

  enum class Stdin { kClose, kKeepOpen };
  /// Waits for its end, with its stdin closed before or not; kills it after `timeout`.
  [[nodiscard]] ProcessResult wait(std::chrono::milliseconds timeout, Stdin stdin_pipe);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  using File = std::unique_ptr<std::FILE, CloseFile>;

  [[nodiscard]] bool does_catch(int number) const;
  [[nodiscard]] bool has_ended_within(std::chrono::milliseconds timeout, int& status) const;

  File out_;
  File err_;
  int stdin_fd_ = -1;
  pid_t pid_ = -1;
};

/// Runs it to its end with `input` on its stdin.
[[nodiscard]] ProcessResult run(const ProcessOptions& options, std::string_view input = {},
                                std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace spillway::testing
