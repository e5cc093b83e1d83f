// SPDX-License-Identifier: MIT
#include "cli/failure.h"

#include "cli/output.h"

#include <chrono>

namespace spillway {
namespace {

// What the server names, else `otherwise`.
std::string wait_advice(const Status& failure, const char* otherwise) {
  const auto delay = failure.retry_after();
  return delay ? "wait " + std::to_string(std::chrono::ceil<std::chrono::seconds>(*delay).count()) +
                     " s"
               : otherwise;
}

std::string doubt_advice(const Status& failure) {
  const std::string doubt =
      failure.code() == StatusCode::kLost ? "no certain answer came" : "it may have been executed";
  return doubt + "; look whether it was done before you do it again";
}

// Empty: the message says it all.
std::string advice(const Status& failure, Effect effect) {
  if (effect == Effect::kMayWrite && failure.execution() == Execution::kMaybe) {
    return doubt_advice(failure);
  }
  switch (failure.code()) {
    case StatusCode::kOverload:
      return "the database has too much to do; " +
             wait_advice(failure, "try again in half a minute");
    case StatusCode::kRateLimited:
      return wait_advice(failure, "wait five minutes");
    case StatusCode::kCancelled:
      return "nothing was changed";
    case StatusCode::kTransient:
    case StatusCode::kLost:
      return wait_advice(failure, "try again");
    case StatusCode::kTooBig:
      return "ask for less at once";
    case StatusCode::kStorageFull:
      return "somebody has to make room";
    case StatusCode::kAuth:
      return "check the token, in CLOUDFLARE_API_TOKEN or --token-file";
    case StatusCode::kQuota:
      return "it ends at 00:00 UTC, or with a paid plan";
    default:
      return {};
  }
}

}  // namespace

std::string explained(const Status& failure, Effect effect) {
  const std::string way_out = advice(failure, effect);
  return way_out.empty() ? failure.message() : failure.message() + "; " + way_out;
}

ExitCode refuse(ExitCode code, const std::string& why) {
  say(why);
  return code;
}

bool may_work_later(StatusCode code) noexcept {
  return code == StatusCode::kOverload || code == StatusCode::kRateLimited ||
         code == StatusCode::kTransient || code == StatusCode::kLost || code == StatusCode::kQuota;
}

ExitCode exit_code_of_open(const Status& failure) noexcept {
  if (failure.code() == StatusCode::kConfig) {
    return ExitCode::kUsage;
  }
  return exit_code_of_statement(failure);
}

ExitCode exit_code_of_statement(const Status& failure) noexcept {
  if (failure.code() == StatusCode::kInvalidArgument) {
    return ExitCode::kUsage;
  }
  return may_work_later(failure.code()) ? ExitCode::kUnavailable : ExitCode::kError;
}

}  // namespace spillway
