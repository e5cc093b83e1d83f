// SPDX-License-Identifier: MIT
//
// Randomness as an argument: the same state gives the same sequence with every compiler and
// library.
#pragma once

#include <cstdint>

namespace spillway {

/// SplitMix64: advances `state` and gives 64 well-mixed bits. Not for secrets.
constexpr std::uint64_t next_random(std::uint64_t& state) noexcept {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t bits = state;
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31U);
}

/// Uniform in [0, 1).
constexpr double next_unit_random(std::uint64_t& state) noexcept {
  return static_cast<double>(next_random(state) >> 11U) * 0x1.0p-53;
}

}  // namespace spillway
