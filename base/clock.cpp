// SPDX-License-Identifier: MIT
#include <spillway/clock.h>

#include <cstddef>
#include <new>

namespace spillway {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const noexcept override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
  [[nodiscard]] SteadyTime steady_now() const noexcept override {
    return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now());
  }
};

}  // namespace

const Clock& Clock::system() noexcept {
  // Never destroyed: threads may read the time while static objects already go away.
  alignas(SystemClock) static std::byte storage[sizeof(SystemClock)];
  static const Clock* const clock = ::new (storage) SystemClock;
  return *clock;
}

}  // namespace spillway
