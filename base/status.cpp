// SPDX-License-Identifier: MIT
#include <spillway/status.h>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace spillway {
namespace {

// In the order of StatusCode.
constexpr std::array<std::string_view, 16> kCodeNames = {
    "ok",         "overload",         "rate_limited", "transient", "lost",   "too_big",
    "constraint", "schema",           "storage_full", "auth",      "config", "permanent",
    "quota",      "invalid_argument", "cancelled",    "internal",
};
static_assert(kCodeNames.size() == static_cast<std::size_t>(StatusCode::kInternal) + 1);

Execution first_guess(StatusCode code) noexcept {
  const bool is_uncertain = code == StatusCode::kLost || code == StatusCode::kInternal;
  return is_uncertain ? Execution::kMaybe : Execution::kNo;
}

// A failure without a failure's code is the caller's defect: it must not pass for a success.
StatusCode failure_code(StatusCode code) noexcept {
  assert(code != StatusCode::kOk);
  return code == StatusCode::kOk ? StatusCode::kInternal : code;
}

}  // namespace

std::string_view to_string(StatusCode code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return index < kCodeNames.size() ? kCodeNames[index] : kCodeNames.back();
}

// Shared by all copies of a Status and never changed: a change makes a new one.
struct Status::Detail {
  StatusCode code = StatusCode::kInternal;
  Execution execution = Execution::kMaybe;
  int sqlite_code = 0;
  int http_status = 0;
  int d1_code = 0;
  std::optional<std::chrono::milliseconds> retry_after = {};
  bool is_lasting = false;
  std::string message = {};
  Status cause = {};  // A success: none.
};

Status::Status(StatusCode code, std::string message) {
  Detail detail;
  detail.code = failure_code(code);
  detail.execution = first_guess(detail.code);
  detail.message = std::move(message);
  detail_ = std::make_shared<const Detail>(std::move(detail));
}

StatusCode Status::code() const noexcept { return detail_ ? detail_->code : StatusCode::kOk; }

const std::string& Status::message() const noexcept {
  static const std::string none;
  return detail_ ? detail_->message : none;
}

Execution Status::execution() const noexcept {
  return detail_ ? detail_->execution : Execution::kNo;
}

int Status::sqlite_code() const noexcept { return detail_ ? detail_->sqlite_code : 0; }

int Status::http_status() const noexcept { return detail_ ? detail_->http_status : 0; }

int Status::d1_code() const noexcept { return detail_ ? detail_->d1_code : 0; }

std::optional<std::chrono::milliseconds> Status::retry_after() const noexcept {
  return detail_ ? detail_->retry_after : std::nullopt;
}

bool Status::is_lasting() const noexcept { return detail_ && detail_->is_lasting; }

const Status* Status::cause() const noexcept {
  return detail_ && !detail_->cause.is_ok() ? &detail_->cause : nullptr;
}

template <typename Change>
Status Status::changed(Change&& change) const {
  if (is_ok()) {
    return *this;
  }
  Detail detail = *detail_;
  change(detail);
  Status copy;
  copy.detail_ = std::make_shared<const Detail>(std::move(detail));
  return copy;
}

Status Status::with_code(StatusCode code) const {
  return changed([&](Detail& detail) { detail.code = code; });
}

Status Status::with_execution(Execution execution) const {
  return changed([&](Detail& detail) { detail.execution = execution; });
}

Status Status::with_sqlite_code(int code) const {
  return changed([&](Detail& detail) { detail.sqlite_code = code; });
}

Status Status::with_http_status(int status) const {
  return changed([&](Detail& detail) { detail.http_status = status; });
}

Status Status::with_d1_code(int code) const {
  return changed([&](Detail& detail) { detail.d1_code = code; });
}

Status Status::with_retry_after(std::optional<std::chrono::milliseconds> delay) const {
  return delay ? changed([&](Detail& detail) { detail.retry_after = delay; }) : *this;
}

Status Status::with_lasting() const {
  return changed([](Detail& detail) { detail.is_lasting = true; });
}

Status Status::with_cause(Status cause) const {
  return changed([&](Detail& detail) { detail.cause = std::move(cause); });
}

Status Status::with_message(std::string message) const {
  return changed([&](Detail& detail) { detail.message = std::move(message); });
}

std::string Status::to_string() const {
  std::string text;
  for (const Status* status = this; status != nullptr; status = status->cause()) {
    text += text.empty() ? "" : "; because ";
    text += spillway::to_string(status->code());
    text += status->message().empty() ? "" : ": ";
    text += status->message();
  }
  return text;
}

void internal::die_on_bad_access(const char* what, const Status& status) {
  // Nothing can be done about a failed write on the way to abort.
  static_cast<void>(std::fprintf(stderr, "spillway: %s: %s\n", what, status.to_string().c_str()));
  std::abort();
}

}  // namespace spillway
