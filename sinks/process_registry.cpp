// SPDX-License-Identifier: MIT
#include "sinks/process_registry.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

namespace spillway {
namespace {

// How long a fork waits for attempts that were told to stop. SQLite stops within milliseconds,
// unless the disk hangs.
constexpr std::chrono::seconds kForkGrace{2};

std::atomic<bool> has_registry{false};

/// Runs after the handlers of std::atexit and the destructors of namespace scope, which may still
/// log: 101 is the last of the priorities that are ours to use, and the destructors of a shared
/// library that this is linked into have none, which comes before all of them.
[[gnu::destructor(101)]] void at_the_very_end() {
  if (has_registry) {
    ProcessRegistry::of_process().exit();
  }
}

}  // namespace

ProcessRegistry& ProcessRegistry::of_process() {
  static auto* const registry = new ProcessRegistry;
  return *registry;
}

ProcessRegistry::ProcessRegistry() {
  const int error = pthread_atfork([] { of_process().before_fork(); },
                                   [] { of_process().after_fork_in_parent(); },
                                   [] { of_process().after_fork_in_child(); });
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "pthread_atfork");
  }
  has_registry = true;
}

void ProcessRegistry::add(std::weak_ptr<ProcessListener> listener) {
  const std::lock_guard lock(mutex_);
  const auto is_gone = [](const auto& known) { return known.expired(); };
  listeners_.erase(std::remove_if(listeners_.begin(), listeners_.end(), is_gone), listeners_.end());
  listeners_.push_back(std::move(listener));
  inherited_.reserve(inherited_.size() + 1);  // For the next fork, which must not need memory.
}

/// False if there is no memory for all of them.
bool ProcessRegistry::collect_alive(Listeners& alive) const noexcept {
  try {
    for (const auto& listener : listeners_) {
      if (auto found = listener.lock()) {
        alive.push_back(std::move(found));
      }
    }
    return true;
  } catch (const std::bad_alloc&) {  // The application goes on.
    return false;
  }
}

void ProcessRegistry::before_fork() noexcept {
  mutex_.lock();
  is_quiet_ = collect_alive(forking_);
  for (const auto& listener : forking_) {
    listener->begin_fork();
  }
  const SteadyTime deadline = Clock::system().steady_now() + kForkGrace;
  for (const auto& listener : forking_) {
    is_quiet_ = listener->await_quiet(deadline) && is_quiet_;
  }
}

void ProcessRegistry::after_fork_in_parent() noexcept {
  for (const auto& listener : forking_) {
    listener->end_fork();
  }
  const Listeners done = std::exchange(forking_, {});
  mutex_.unlock();
}  // `done` may hold the last reference.

void ProcessRegistry::after_fork_in_child() noexcept {
  generation_.fetch_add(1, std::memory_order_relaxed);
  has_inherited_connection_ = has_inherited_connection_ || !is_quiet_;
  if (!forking_.empty()) {
    inherited_.push_back(std::exchange(forking_, {}));
  }
  listeners_.clear();
  mutex_.unlock();
}

void ProcessRegistry::exit() noexcept {
  Listeners open;
  {
    const std::lock_guard lock(mutex_);
    static_cast<void>(collect_alive(open));
  }
  for (const auto& listener : open) {
    listener->begin_exit();
  }
  for (const auto& listener : open) {
    listener->end_exit();
  }
}

}  // namespace spillway
