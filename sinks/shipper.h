// SPDX-License-Identifier: MIT
//
// Shipper: turns one Send into one SendDone. It owns the connection: opens it when there is
// something to send, prepares the table, and lets the connection go after a failure that may have
// broken it. Used by one thread.
#pragma once

#include <spillway/pipeline.h>

#include "sinks/counting_database.h"
#include "sinks/pipeline_core.h"
#include "table/log_table.h"

#include <cstdint>
#include <memory>
#include <stop_token>

namespace spillway {

class Shipper {
 public:
  Shipper(DatabaseFactory factory, LogTable table, std::int64_t writer);

  /// One attempt. Blocks until its deadline at most, or until the stop token fires. Does not throw.
  [[nodiscard]] SendDone ship(const Send& send, const std::stop_token& cancel) noexcept;
  /// Lets go of the connection.
  void disconnect() noexcept;

 private:
  [[nodiscard]] Status caught() const noexcept;
  [[nodiscard]] Status thrown(const char* what) const;
  Status attempt(const Send& send, const ExecuteOptions& options);
  Status connect();
  Status prepare(const ExecuteOptions& options);
  Status insert(const Send& send, const ExecuteOptions& options);
  void describe_database(SendDone& done);

  DatabaseFactory factory_;
  LogTable table_;
  std::int64_t writer_;
  std::unique_ptr<CountingDatabase> database_;
  bool is_prepared_ = false;
  bool has_sent_rows_ = false;  ///< In this attempt.
  Inserted inserted_;           ///< By this attempt.
  // Made beforehand: there is no memory for them then.
  const Status out_of_memory_{StatusCode::kInternal, "out of memory"};
  const Status out_of_memory_before_rows_ = out_of_memory_.with_execution(Execution::kNo);
};

}  // namespace spillway
