// SPDX-License-Identifier: MIT
#include "sinks/shipper.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

namespace spillway {
namespace {

// The deadline ends the wait.
constexpr std::chrono::hours kLongerThanAnyDeadline{24};

/// Failures after which the same connection is as good as a new one.
bool keeps_connection(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
    case StatusCode::kOverload:
    case StatusCode::kRateLimited:
    case StatusCode::kTooBig:
    case StatusCode::kConstraint:
    case StatusCode::kQuota:
    case StatusCode::kCancelled:
      return true;
    default:
      return false;
  }
}

/// Classes that speak of what was sent, for which rows are split and refused.
bool is_about_rows(StatusCode code) noexcept {
  return code == StatusCode::kTooBig || code == StatusCode::kConstraint;
}

/// What fails before the rows are sent has not executed them, whatever became of it, and says
/// nothing about them: they wait.
Status before_rows(const Status& status) {
  const Status failure = status.with_execution(Execution::kNo);
  return is_about_rows(status.code()) ? failure.with_code(StatusCode::kTransient) : failure;
}

/// Which database speaks, when it could not even be opened.
std::string name_from(const Status& status) {
  if (status.sqlite_code() != 0) {
    return "SQLite";
  }
  return status.http_status() != 0 || status.d1_code() != 0 ? "D1" : "";
}

}  // namespace

Shipper::Shipper(DatabaseFactory factory, LogTable table, std::int64_t writer)
    : factory_(std::move(factory)), table_(std::move(table)), writer_(writer) {}

SendDone Shipper::ship(const Send& send, const std::stop_token& cancel) noexcept {
  ExecuteOptions options;
  options.deadline = send.deadline;
  options.cancel = cancel;
  if (send.lock_wait == LockWait::kNone) {
    options.lock_wait = std::chrono::milliseconds(0);
  } else if (send.lock_wait == LockWait::kUntilDeadline) {
    options.lock_wait = kLongerThanAnyDeadline;
  }
  SendDone done;
  has_sent_rows_ = false;
  inserted_ = {};
  try {  // The factory and the Database are the user's: nothing of theirs may end the thread.
    done.status = attempt(send, options);
    describe_database(done);
  } catch (...) {
    done.status = caught();
  }
  done.requests = database_ ? database_->take_calls() : 0;
  done.inserted = std::move(inserted_);
  if (!keeps_connection(done.status.code())) {
    disconnect();
  }
  return done;
}

void Shipper::describe_database(SendDone& done) {
  if (database_) {
    done.traits = database_->traits();
    done.database = done.traits->name;
  } else {
    done.database = name_from(done.status);
  }
}

void Shipper::disconnect() noexcept {
  database_.reset();
  is_prepared_ = false;
}

/// What the exception that is being handled says.
Status Shipper::caught() const noexcept {
  const Status& out_of_memory = has_sent_rows_ ? out_of_memory_ : out_of_memory_before_rows_;
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {  // Not the time to make up a text.
      return out_of_memory;
    } catch (const std::exception& error) {
      return thrown(error.what());
    } catch (...) {
      return thrown("the database threw something that is no std::exception");
    }
  } catch (...) {  // There was no memory for the text.
    return out_of_memory;
  }
}

Status Shipper::thrown(const char* what) const {
  const Status status(StatusCode::kInternal, what);
  return has_sent_rows_ ? status : before_rows(status);
}

Status Shipper::attempt(const Send& send, const ExecuteOptions& options) {
  if (Status status = connect(); !status.is_ok()) {
    return before_rows(status);
  }
  const bool was_prepared = is_prepared_;
  if (Status status = prepare(options); !status.is_ok()) {
    return before_rows(status);
  }
  Status status = insert(send, options);
  if (status.code() == StatusCode::kSchema && was_prepared) {  // Somebody dropped the table.
    is_prepared_ = false;
    if (Status again = prepare(options); !again.is_ok()) {
      return before_rows(again);
    }
    status = insert(send, options);
  }
  return status;
}

Status Shipper::connect() {
  if (database_) {
    return {};
  }
  auto opened = factory_();
  if (!opened) {
    return opened.error();
  }
  if (*opened == nullptr) {
    return Status(StatusCode::kConfig, "the database factory gave no database");
  }
  if ((*opened)->traits().does_retry) {
    return Status(StatusCode::kConfig,
                  "the database retries by itself; give the pipeline the one it wraps, so that "
                  "only one place retries");
  }
  database_ = std::make_unique<CountingDatabase>(*std::move(opened));
  return {};
}

Status Shipper::prepare(const ExecuteOptions& options) {
  if (is_prepared_) {
    return {};
  }
  Status status = table_.prepare(*database_, options);
  is_prepared_ = status.is_ok();
  return status;
}

Status Shipper::insert(const Send& send, const ExecuteOptions& options) {
  has_sent_rows_ = true;
  Result<Inserted> inserted = table_.insert(*database_, writer_, *send.rows, options);
  Status status = inserted.status();
  if (inserted) {
    inserted_ = *std::move(inserted);
  }
  return status;
}

}  // namespace spillway
