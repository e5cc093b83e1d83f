// SPDX-License-Identifier: MIT
#include "sinks/fork_registry.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace spillway {

ForkRegistry& ForkRegistry::of_process() {
  static auto* const registry = new ForkRegistry;
  return *registry;
}

ForkRegistry::ForkRegistry() {
  const int error =
      pthread_atfork([] { of_process().before_fork(); }, [] { of_process().after_fork(); },
                     [] { of_process().begin_child(); });
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "pthread_atfork");
  }
}

void ForkRegistry::add(ForkListener& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.push_back(&listener);
}

void ForkRegistry::remove(ForkListener& listener) noexcept {
  const std::lock_guard lock(mutex_);
  listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), &listener), listeners_.end());
}

void ForkRegistry::before_fork() noexcept {
  mutex_.lock();
  for (ForkListener* listener : listeners_) {
    listener->before_fork();
  }
}

void ForkRegistry::after_fork() noexcept {
  for (ForkListener* listener : listeners_) {
    listener->after_fork();
  }
  mutex_.unlock();
}

void ForkRegistry::begin_child() noexcept {
  generation_.fetch_add(1, std::memory_order_relaxed);
  for (ForkListener* listener : std::exchange(listeners_, {})) {
    listener->after_fork();
  }
  mutex_.unlock();
}

}  // namespace spillway
