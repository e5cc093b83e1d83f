// SPDX-License-Identifier: MIT
//
// LogTarget: where the records of a Logger go. Ours are PipelineTarget, into a table, and
// SpdlogTarget (logger_spdlog.h), into sinks of spdlog; a program may have targets of its own,
// which read a record with what is declared below.
#pragma once

#include <spillway/pipeline.h>
#include <spillway/record.h>

#include <chrono>
#include <memory>
#include <string>

namespace spillway {

/// Implementations may be called from any number of threads at once, and must not throw.
class LogTarget {
 public:
  LogTarget() = default;
  LogTarget(const LogTarget&) = delete;
  LogTarget& operator=(const LogTarget&) = delete;
  virtual ~LogTarget() = default;

  /// Takes a copy of what it needs: the texts live until it returns. Fields come encoded. It is
  /// called on the thread that logs, which waits meanwhile. Logging from within must come to an
  /// end, as with any recursion.
  virtual void accept(const RecordView& record) noexcept = 0;

  /// Returns when what was accepted before is where it belongs, at the latest after `timeout`;
  /// whether it is. A timeout of 0 only asks for haste.
  virtual bool flush(std::chrono::milliseconds timeout) noexcept = 0;
};

/// Into a table. It shares the pipeline, whose owner may close it and ask for its Stats; the last
/// owner closes it as ~Pipeline does.
class PipelineTarget final : public LogTarget {
 public:
  /// `pipeline` must not be null.
  explicit PipelineTarget(std::shared_ptr<Pipeline> pipeline) noexcept;

  void accept(const RecordView& record) noexcept override;
  bool flush(std::chrono::milliseconds timeout) noexcept override;

 private:
  const std::shared_ptr<Pipeline> pipeline_;
};

/// Appends the record as text for people, on one physical line: the message and ` name=value` for
/// each field. What would end the line or steer a terminal is shown in its place: \n, \x1b. Values
/// that are no plain word stand in quotes, objects and lists as JSON.
void append_log_line(const RecordView& record, std::string& out);

/// Appends the record as one line of JSON without newline: `time`, `level`, `logger`, `message` and
/// the fields beside them. A field that has one of these names gets a `_` at its end.
void append_json_line(const RecordView& record, std::string& out);

}  // namespace spillway
