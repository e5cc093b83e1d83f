// SPDX-License-Identifier: MIT
#include "tests/support/subprocess.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <thread>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kCannotRun = 127;  // As a shell says it.

[[noreturn]] void give_up(const char* what) {
  const std::string why = std::generic_category().message(errno);
  static_cast<void>(std::fprintf(stderr, "Subprocess: %s: %s\n", what, why.c_str()));
  std::abort();
}

int checked(int result, const char* what) {
  if (result < 0) {
    give_up(what);
  }
  return result;
}

// Everything that the child needs between fork and exec, where nothing may be allocated.
struct Launch {
  explicit Launch(const ProcessOptions& from) : options(from) {
    for (const auto& [name, value] : options.env) {
      variables.push_back(name + "=" + value);
    }
    for (const std::string& argument : options.argv) {
      argv.push_back(const_cast<char*>(argument.c_str()));  // execve does not write to them.
    }
    argv.push_back(nullptr);
    for (std::string& variable : variables) {
      envp.push_back(variable.data());
    }
    for (char** variable = environ; *variable != nullptr; ++variable) {
      envp.push_back(*variable);
    }
    envp.push_back(nullptr);
  }

  const ProcessOptions& options;
  std::vector<std::string> variables;
  std::vector<char*> argv;
  std::vector<char*> envp;
  // Opened before the user changes, who may be unable to reach the program by its path.
  int program = -1;
  std::array<int, 3> standard{};
};

void become_user(uid_t uid) {
  if (setgroups(0, nullptr) != 0 || setgid(uid) != 0 || setuid(uid) != 0) {
    _exit(kCannotRun);
  }
}

// An ignored signal stays ignored over exec; the program is to start as from a shell.
void restore_signals() {
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) {
    static_cast<void>(signal(number, SIG_DFL));
  }
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_program(const Launch& launch) {
  restore_signals();
  for (int fd = 0; fd < 3; ++fd) {
    dup2(launch.standard[static_cast<std::size_t>(fd)], fd);
  }
  const char* const directory = launch.options.working_directory.c_str();
  if (*directory != '\0' && chdir(directory) != 0) {
    _exit(kCannotRun);
  }
  if (launch.options.uid) {
    become_user(*launch.options.uid);
  }
  for (const int fd : launch.options.closed_fds) {
    close(fd);
  }
  fexecve(launch.program, launch.argv.data(), launch.envp.data());
  _exit(kCannotRun);
}

std::FILE* unnamed_file() {
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) {
    give_up("tmpfile");
  }
  checked(fcntl(fileno(file), F_SETFD, FD_CLOEXEC), "fcntl");
  return file;
}

std::string content_of(std::FILE* file) {
  const int fd = fileno(file);
  struct stat status = {};
  checked(fstat(fd, &status), "fstat");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  // pread leaves the file's position, which the program shares, where it is.
  text.resize(
      static_cast<std::size_t>(std::max<ssize_t>(pread(fd, text.data(), text.size(), 0), 0)));
  return text;
}

}  // namespace

Subprocess::Subprocess(const ProcessOptions& options) : out_(unnamed_file()), err_(unnamed_file()) {
  static_cast<void>(signal(SIGPIPE, SIG_IGN));  // feed tells by its result.
  Launch launch(options);
  launch.program = open(options.argv.at(0).c_str(), O_RDONLY | O_CLOEXEC);
  int read_end = -1;
  if (options.stdin_file.empty()) {
    std::array<int, 2> ends{};
    checked(pipe2(ends.data(), O_CLOEXEC), "pipe2");
    read_end = ends[0];
    stdin_fd_ = ends[1];
    if (options.is_stdin_non_blocking) {
      checked(fcntl(read_end, F_SETFL, O_NONBLOCK), "fcntl");
    }
  } else {
    read_end = checked(open(options.stdin_file.c_str(), O_RDONLY | O_CLOEXEC), "open");
  }
  const int stdout_file =
      options.stdout_file.empty()
          ? -1
          : checked(open(options.stdout_file.c_str(), O_WRONLY | O_CLOEXEC), "open");
  launch.standard = {read_end, stdout_file < 0 ? fileno(out_.get()) : stdout_file,
                     fileno(err_.get())};
  pid_ = checked(fork(), "fork");
  if (pid_ == 0) {
    become_program(launch);
  }
  for (const int fd : {read_end, stdout_file, launch.program}) {
    close(fd);
  }
}

Subprocess::~Subprocess() {
  close_stdin();
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

bool Subprocess::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(stdin_fd_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

void Subprocess::close_stdin() {
  if (stdin_fd_ >= 0) {
    close(stdin_fd_);
    stdin_fd_ = -1;
  }
}

void Subprocess::send_signal(int number) const { checked(kill(pid_, number), "kill"); }

bool Subprocess::halt() const {
  send_signal(SIGSTOP);
  siginfo_t info = {};
  // Its end is left for `wait`.
  checked(waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT), "waitid");
  const bool stands = info.si_code == CLD_STOPPED;
  if (stands) {
    checked(waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED), "waitid");
  }
  return stands;
}

std::string Subprocess::out() const { return content_of(out_.get()); }

std::string Subprocess::err() const { return content_of(err_.get()); }

bool Subprocess::wait_for_text(std::string_view text, milliseconds timeout) const {
  const auto end = steady_clock::now() + timeout;
  while (out().find(text) == std::string::npos && err().find(text) == std::string::npos) {
    if (steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

bool Subprocess::wait_for_handler(int number, Handler handler, milliseconds timeout) const {
  const auto end = steady_clock::now() + timeout;
  while (does_catch(number) != (handler == Handler::kInstalled)) {
    if (steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

// As the kernel tells it: a mask in hexadecimal digits, whose lowest bit is signal 1.
bool Subprocess::does_catch(int number) const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string word; status >> word;) {
    if (word == "SigCgt:") {
      status >> word;
      return (std::strtoull(word.c_str(), nullptr, 16) >> (number - 1) & 1U) != 0;
    }
  }
  return false;
}

bool Subprocess::has_ended_within(milliseconds timeout, int& status) const {
  const auto end = steady_clock::now() + timeout;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

ProcessResult Subprocess::wait(milliseconds timeout, Stdin stdin_pipe) {
  if (stdin_pipe == Stdin::kClose) {
    close_stdin();
  }
  ProcessResult result;
  int status = 0;
  if (!has_ended_within(timeout, status)) {
    result.has_timed_out = true;
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.out = out();
  result.err = err();
  return result;
}

ProcessResult run(const ProcessOptions& options, std::string_view input, milliseconds timeout) {
  Subprocess process(options);
  process.feed(input);  // That it stops reading early is its right; its exit code tells.
  return process.wait(timeout, Subprocess::Stdin::kClose);
}

}  // namespace spillway::testing
