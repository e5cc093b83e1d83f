// SPDX-License-Identifier: MIT
#include <spillway/sleeper.h>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>

namespace spillway {
namespace {

class SystemSleeper final : public Sleeper {
 public:
  [[nodiscard]] bool sleep(std::chrono::milliseconds duration,
                           const std::stop_token& cancel) noexcept override {
    std::mutex mutex;  // Nobody else's: only the token wakes the sleeper.
    std::condition_variable_any asleep;
    std::unique_lock lock(mutex);
    asleep.wait_for(lock, cancel, duration, [] { return false; });
    return !cancel.stop_requested();
  }
};

}  // namespace

Sleeper& Sleeper::system() noexcept {
  // Never destroyed: threads may still sleep while static objects already go away.
  alignas(SystemSleeper) static std::byte storage[sizeof(SystemSleeper)];
  static Sleeper* const sleeper = ::new (storage) SystemSleeper;
  return *sleeper;
}

}  // namespace spillway
