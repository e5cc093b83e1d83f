// SPDX-License-Identifier: MIT
//
// ForkRegistry: tells those concerned when the process forks.
//
// A forked child has none of its parent's threads, and SQLite forbids to carry an open connection
// into it (sqlite.org/howtocorrupt.html, section 2.6): its locks are the parent's, and the child
// would believe that it has them. So before a fork each listener becomes quiet and lets go of its
// connection; parent and child open a new one. The child never uses what it has inherited, it
// begins anew: is_of_this_process() tells the two apart.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace spillway {

class ForkListener {
 public:
  ForkListener() = default;
  ForkListener(const ForkListener&) = delete;
  ForkListener& operator=(const ForkListener&) = delete;

  /// On the thread that forks. What is locked here stays locked over the fork …
  virtual void before_fork() noexcept = 0;
  /// … and is unlocked here: on the same thread, in the parent and in the child.
  virtual void after_fork() noexcept = 0;

 protected:
  ~ForkListener() = default;
};

class ForkRegistry {
 public:
  /// The process's own, never destroyed: a fork may come after static destruction has begun.
  [[nodiscard]] static ForkRegistry& of_process();

  /// A listener must be removed before it goes, except in a child that has inherited it.
  void add(ForkListener& listener);
  void remove(ForkListener& listener) noexcept;

  /// Rises by one in each child: a number that was read before a fork differs from the child's.
  [[nodiscard]] static std::uint64_t generation() noexcept {
    return generation_.load(std::memory_order_relaxed);
  }

 private:
  ForkRegistry();
  void before_fork() noexcept;
  void after_fork() noexcept;
  void begin_child() noexcept;

  inline static std::atomic<std::uint64_t> generation_{0};

  std::mutex mutex_;  ///< Held over the fork.
  std::vector<ForkListener*> listeners_;
};

}  // namespace spillway
