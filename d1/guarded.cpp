// SPDX-License-Identifier: MIT
#include "d1/guarded.h"

#include "base/one_line.h"

#include <exception>
#include <new>
#include <string>

namespace spillway {
namespace {

/// One failure in both forms.
struct Prepared {
  explicit Prepared(const char* message)
      : not_executed(Status(StatusCode::kInternal, message).with_execution(Execution::kNo)),
        maybe_executed(Status(StatusCode::kInternal, message).with_execution(Execution::kMaybe)) {}

  [[nodiscard]] const Status& with(Execution execution) const noexcept {
    return execution == Execution::kNo ? not_executed : maybe_executed;
  }

  Status not_executed;
  Status maybe_executed;
};

// Both are never destroyed: threads may still work when the process ends.
const Prepared& no_memory() {
  static const auto& prepared = *new Prepared("out of memory");
  return prepared;
}

const Prepared& unnamed() {
  static const auto& prepared = *new Prepared("an exception of an unknown kind");
  return prepared;
}

Status named(const std::exception& error, Execution execution) {
  return Status(StatusCode::kInternal, "unexpected exception: " + one_line(error.what()))
      .with_execution(execution);
}

}  // namespace

void prepare_exception_statuses() noexcept {
  static_cast<void>(no_memory());
  static_cast<void>(unnamed());
}

Status status_of_exception(Execution execution) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return no_memory().with(execution);
  } catch (const std::exception& error) {
    try {
      return named(error, execution);
    } catch (const std::exception&) {  // No memory for the words.
      return no_memory().with(execution);
    }
  } catch (...) {
    return unnamed().with(execution);
  }
}

}  // namespace spillway
