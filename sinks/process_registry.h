// SPDX-License-Identifier: MIT
//
// ProcessRegistry: tells those concerned when the process forks, and when it ends.
//
// Fork. A child has none of its parent's threads, and SQLite forbids to carry an open connection
// into it (sqlite.org/howtocorrupt.html, section 2.6): its locks are the parent's, and the child
// would believe that it has them. So before a fork every listener becomes quiet and lets go of its
// connection; parent and child open new ones. The child never uses or destroys what it has
// inherited, it begins anew: generation() tells the two apart.
//
// Exit. A pipeline closes when its last reference goes. But std::exit destroys no object of any
// stack, and nobody ever destroys what was made by `new` and forgotten: what such a pipeline has in
// memory would be lost. So those that are left when everything else of std::exit has run are told.
#pragma once

#include <spillway/clock.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace spillway {

class ProcessListener {
 public:
  ProcessListener() = default;
  ProcessListener(const ProcessListener&) = delete;
  ProcessListener& operator=(const ProcessListener&) = delete;

  // On the thread that forks. All are told to stop before one is waited for.

  virtual void begin_fork() noexcept = 0;
  /// False: not quiet at `deadline`.
  [[nodiscard]] virtual bool await_quiet(SteadyTime deadline) noexcept = 0;
  /// In the parent alone.
  virtual void end_fork() noexcept = 0;

  // On the thread that ends the process; other threads may still run. In the same two passes.

  virtual void begin_exit() noexcept = 0;
  virtual void end_exit() noexcept = 0;

 protected:
  ~ProcessListener() = default;
};

class ProcessRegistry {
 public:
  /// The process's own, never destroyed.
  [[nodiscard]] static ProcessRegistry& of_process();

  void add(std::weak_ptr<ProcessListener> listener);

  /// Rises by one in each child: a number that was read before a fork differs from the child's.
  [[nodiscard]] static std::uint64_t generation() noexcept {
    return generation_.load(std::memory_order_relaxed);
  }
  /// True if a listener was not quiet at one of the forks that this process has come from: an open
  /// connection was inherited, and one beside it could damage the file.
  [[nodiscard]] static bool has_inherited_connection() noexcept {
    return has_inherited_connection_.load(std::memory_order_relaxed);
  }

  /// Only for the end of the process.
  void exit() noexcept;

 private:
  using Listeners = std::vector<std::shared_ptr<ProcessListener>>;

  ProcessRegistry();
  void before_fork() noexcept;
  void after_fork_in_parent() noexcept;
  void after_fork_in_child() noexcept;
  [[nodiscard]] bool collect_alive(Listeners& alive) const noexcept;

  inline static std::atomic<std::uint64_t> generation_{0};
  inline static std::atomic<bool> has_inherited_connection_{false};

  std::mutex mutex_;  ///< Held over the fork.
  std::vector<std::weak_ptr<ProcessListener>> listeners_;
  Listeners forking_;
  bool is_quiet_ = true;
  /// Never used again, but in sight of leak checkers.
  std::vector<Listeners> inherited_;
};

}  // namespace spillway
