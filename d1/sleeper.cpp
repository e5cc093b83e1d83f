// SPDX-License-Identifier: MIT
#include <spillway/sleeper.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>

namespace spillway {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::hours kLongest{24};

class SystemSleeper final : public Sleeper {
 public:
  [[nodiscard]] bool sleep(std::chrono::milliseconds duration,
                           const std::stop_token& cancel) noexcept override {
    std::mutex mutex;  // Nobody else's: only the token wakes the sleeper.
    std::condition_variable_any asleep;
    std::unique_lock lock(mutex);
    // Much longer ones would overflow the clock.
    asleep.wait_for(lock, cancel, std::min<milliseconds>(duration, kLongest), [] { return false; });
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
