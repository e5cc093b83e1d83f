// SPDX-License-Identifier: MIT
//
// Status and Result<T>: how every fallible call of Spillway answers.
//
// A Status is a value: a code, the original message, and what is known about the attempt (whether
// it may have been carried out, what the other side asked us to wait, the numbers it gave). Codes
// are error classes, chosen so that a caller can decide mechanically what to do next; texts and
// numbers of SQLite and D1 are turned into a class in one place each, and nowhere else. Nothing in
// Spillway throws across a public boundary.
//
// Both types are copyable, safe to read from many threads, and must not be ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace spillway {

/// The error class. What a caller may do with each is said in `docs/failure-modes.md`.
enum class StatusCode : std::uint8_t {
  kOk,
  /// The database has too much to do: SQLITE_BUSY, SQLITE_LOCKED, "D1 DB is overloaded…", a bare
  /// 429. Send less. If the destination named a rate, use kRateLimited.
  kOverload,
  /// A request rate was exceeded (D1 codes 971 and 10100). Nothing was executed. Wait for
  /// `retry_after`.
  kRateLimited,
  /// Not executed, and likely to work at once: "Cannot resolve D1 DB…", SQLITE_INTERRUPT,
  /// SQLITE_NOMEM. Try again.
  kTransient,
  /// The answer was lost or says nothing certain: connection reset, time-out, a body that cannot be
  /// read, SQLITE_IOERR. The statements may have been executed. Repeat only what is safe to repeat.
  kLost,
  /// The request exceeds a limit. Split it.
  kTooBig,
  /// A constraint of the schema refused a row. Sending the same row again gives the same answer.
  kConstraint,
  /// A table or column is missing. Create the schema.
  kSchema,
  /// The database, its account or its disk is full. Somebody has to make room.
  kStorageFull,
  /// The credential was refused. Somebody has to replace it.
  kAuth,
  /// The database named cannot be used as configured: missing directory, no permission, wrong
  /// account, redirect, TLS.
  kConfig,
  /// Refused for good, for a reason that has no class of its own: SQL syntax, a corrupt file.
  kPermanent,
  /// A daily quota is used up.
  kQuota,
  /// The caller passed something unusable; nothing was attempted. The message names the argument.
  kInvalidArgument,
  /// The caller's stop token fired or the deadline had passed before the attempt could be made.
  kCancelled,
  /// A defect in Spillway or an exception from below (out of memory).
  kInternal,
};

/// Whether the statements of a failed attempt may have been carried out.
enum class Execution : std::uint8_t {
  kNo,     ///< Certainly not.
  kMaybe,  ///< Unknown: they may have been executed, or may still be.
};

/// The code's name in documents, JSON and gap rows: "overload", "rate_limited", "storage_full" …
[[nodiscard]] std::string_view to_string(StatusCode code) noexcept;

class [[nodiscard]] Status {
 public:
  /// Success.
  Status() noexcept = default;

  /// A failure. `message` is one line for a person: what was refused, by whom, and if possible the
  /// way out; it never holds a secret. Execution starts as kMaybe for kLost and kInternal and as
  /// kNo for all other codes.
  Status(StatusCode code, std::string message);

  [[nodiscard]] bool is_ok() const noexcept { return detail_ == nullptr; }
  [[nodiscard]] StatusCode code() const noexcept;
  /// The message without the code. Empty on success. Valid as long as any copy of this Status
  /// lives.
  [[nodiscard]] const std::string& message() const noexcept;
  [[nodiscard]] Execution execution() const noexcept;
  /// SQLite's extended result code, HTTP's status, D1's error code. 0: none.
  [[nodiscard]] int sqlite_code() const noexcept;
  [[nodiscard]] int http_status() const noexcept;
  [[nodiscard]] int d1_code() const noexcept;
  /// How long the other side asked to be left alone. Empty: it did not say.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry_after() const noexcept;
  /// True: what stands in the way takes its time (a long-running export of the database), so that
  /// trying again within seconds is useless.
  [[nodiscard]] bool is_lasting() const noexcept;
  /// What led to this failure, or null.
  [[nodiscard]] const Status* cause() const noexcept;

  /// Each returns a copy with one property changed; on a success they change nothing.
  [[nodiscard]] Status with_code(StatusCode code) const;
  [[nodiscard]] Status with_execution(Execution execution) const;
  [[nodiscard]] Status with_sqlite_code(int code) const;
  [[nodiscard]] Status with_http_status(int status) const;
  [[nodiscard]] Status with_d1_code(int code) const;
  /// Empty changes nothing: a wait that is not named again still holds.
  [[nodiscard]] Status with_retry_after(std::optional<std::chrono::milliseconds> delay) const;
  [[nodiscard]] Status with_lasting() const;
  [[nodiscard]] Status with_cause(Status cause) const;
  [[nodiscard]] Status with_message(std::string message) const;

  /// "overload: database is locked", followed by each cause: "; because config: …". "ok" on
  /// success.
  [[nodiscard]] std::string to_string() const;

 private:
  struct Detail;
  template <typename Change>
  [[nodiscard]] Status changed(Change&& change) const;

  std::shared_ptr<const Detail> detail_;
};

namespace internal {
/// Prints `what` and the status, and aborts. In every build: reading a value that is not there is a
/// defect.
[[noreturn]] void die_on_bad_access(const char* what, const Status& status);
}  // namespace internal

/// A T or the Status that says why there is none. The names are a subset of std::expected's.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Both constructors are implicit, so that `return value;` and `return status;` work.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  /// `status` must be a failure; a success without a value becomes kInternal.
  Result(Status status)
      : state_(std::in_place_index<1>,
               status.is_ok() ? Status(StatusCode::kInternal, "success without a value")
                              : std::move(status)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value; aborts with the error's text when there is none.
  [[nodiscard]] T& value() & { return *require(std::get_if<0>(&state_)); }
  [[nodiscard]] const T& value() const& { return *require(std::get_if<0>(&state_)); }
  /// By value, so that what a call gave lives as long as a loop over it or a reference to it.
  [[nodiscard]] T value() && { return std::move(*require(std::get_if<0>(&state_))); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  /// The failure; aborts when there is a value.
  [[nodiscard]] const Status& error() const& {
    const Status* const failure = std::get_if<1>(&state_);
    if (failure == nullptr) {
      internal::die_on_bad_access("Result::error() on a value", Status());
    }
    return *failure;
  }
  /// Success, or the failure.
  [[nodiscard]] Status status() const {
    const Status* const failure = std::get_if<1>(&state_);
    return failure == nullptr ? Status() : *failure;
  }

 private:
  template <typename Value>
  [[nodiscard]] Value* require(Value* value) const {
    if (value == nullptr) {
      internal::die_on_bad_access("Result::value() on an error", error());
    }
    return value;
  }

  std::variant<T, Status> state_;
};

}  // namespace spillway
