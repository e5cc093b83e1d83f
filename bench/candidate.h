// SPDX-License-Identifier: MIT
//
// Candidate: one way to log, as the bench sees it. A new one is a class like those of
// spdlog_candidates.cpp and a line in the table there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace spillway::bench {

/// What became of a candidate's records. A figure without its account says little: it is easy to be
/// quick by dropping.
struct Account {
  std::uint64_t logged = 0;
  /// Only of candidates that have a table.
  std::optional<std::uint64_t> stored = std::nullopt;
  std::optional<std::uint64_t> skipped = std::nullopt;  ///< Counted, and named in the table.
};

class Candidate {
 public:
  virtual ~Candidate() = default;

  /// Logs so many records, one right after the other, on this thread. This is what is timed.
  virtual void burst(int calls) = 0;
  /// Lets everything that was logged arrive. No burst comes after it.
  virtual Account close() = 0;
};

struct CandidateKind {
  std::string_view name;
  /// `directory` exists, is empty and is the candidate's own.
  std::unique_ptr<Candidate> (*make)(const std::filesystem::path& directory);
};

/// In the order in which they are shown.
[[nodiscard]] std::span<const CandidateKind> candidate_kinds();

/// Two candidates whose figures are compared, and what the quotient is meant to be at most.
struct Comparison {
  std::string_view name;
  std::string_view of;
  std::string_view to;
  double goal;
};

[[nodiscard]] std::span<const Comparison> comparisons();

}  // namespace spillway::bench
