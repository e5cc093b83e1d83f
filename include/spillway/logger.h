// SPDX-License-Identifier: MIT
//
// Logger: the structured logger.
//
//   auto log = spillway::Logger::open("shop", "sqlite:logs.db");
//   log->info("order placed", {{"order", 42}, {"total", 9.99}, {"user", name}});
//
// A call encodes its fields on its own thread, hands the record to each target and returns; JSON is
// made of them elsewhere. A message is text and no format. docs/logger.md shows all of it,
// <spillway/field.h> what can be a field.
//
// - A Logger is a handle: copies are cheap, and log with the same name, fields, level and targets.
//   Any number of threads may use one, and copies of it, at once.
// - Calls that log never throw and never wait for I/O, as far as their targets do not. They take no
//   memory of their own up to 4 KiB of fields; 4 KiB of stack they do.
// - A call below the level costs a load and a branch, and what its arguments cost.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/field.h>
#include <spillway/log_target.h>
#include <spillway/pipeline.h>
#include <spillway/record.h>
#include <spillway/scoped_context.h>
#include <spillway/status.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// Where a call stands. It is taken by default; nobody has to write it.
struct SourceLocation {
  const char* file = "";
  int line = 0;

  [[nodiscard]] static constexpr SourceLocation here(const char* at_file = __builtin_FILE(),
                                                     int at_line = __builtin_LINE()) noexcept {
    return {at_file, at_line};
  }
};

struct LoggerOptions {
  /// What is below it is not logged, unless the environment says otherwise.
  Level level = Level::kInfo;

  /// A variable of the environment that sets levels, read once when the logger is made:
  /// `info,payments=debug,payments.audit=off`. A name means the loggers of that name and those made
  /// from them with `named`, `payments.refunds`; of several that do, the longest counts. A word
  /// without name is for all others. What cannot be read is told by a WARN record of the logger's
  /// own. Empty: no variable.
  std::string level_variable = "SPILLWAY_LEVEL";

  /// Gives each record the field `source`, FILE:LINE as the compiler was told.
  bool has_source = false;

  /// More names whose values are not written down, beside password, token, authorization, secret,
  /// api_key and cookie; see Redaction.
  std::vector<std::string> redact = {};

  /// For tests. It must outlive the logger.
  const Clock* clock = &Clock::system();
};

class Logger {
 public:
  /// Into a table of the database that `url` names: `sqlite:PATH`, or `d1://ACCOUNT_ID/DATABASE_ID`
  /// with the token of CLOUDFLARE_API_TOKEN. The database is not touched before there is something
  /// to write. kInvalidArgument: the URL or an option, as the text says. kInternal: no thread.
  [[nodiscard]] static Result<Logger> open(std::string name, const std::string& url,
                                           PipelineOptions pipeline = {},
                                           const LoggerOptions& options = {});

  /// To `targets`, in their order; none of them may be null. `name` is the context of the rows.
  /// This and what makes other loggers of one throws only std::bad_alloc.
  explicit Logger(std::string name, std::vector<std::shared_ptr<LogTarget>> targets,
                  const LoggerOptions& options = {});
  // Copied where it is moved: there is no empty Logger.
  Logger(const Logger&) = default;
  Logger& operator=(const Logger&) = default;
  ~Logger() = default;

  void trace(TextRef message, std::initializer_list<Field> fields = {},
             SourceLocation where = SourceLocation::here()) const noexcept {
    log(Level::kTrace, message, fields, where);
  }
  void debug(TextRef message, std::initializer_list<Field> fields = {},
             SourceLocation where = SourceLocation::here()) const noexcept {
    log(Level::kDebug, message, fields, where);
  }
  void info(TextRef message, std::initializer_list<Field> fields = {},
            SourceLocation where = SourceLocation::here()) const noexcept {
    log(Level::kInfo, message, fields, where);
  }
  void warn(TextRef message, std::initializer_list<Field> fields = {},
            SourceLocation where = SourceLocation::here()) const noexcept {
    log(Level::kWarn, message, fields, where);
  }
  void error(TextRef message, std::initializer_list<Field> fields = {},
             SourceLocation where = SourceLocation::here()) const noexcept {
    log(Level::kError, message, fields, where);
  }
  void critical(TextRef message, std::initializer_list<Field> fields = {},
                SourceLocation where = SourceLocation::here()) const noexcept {
    log(Level::kCritical, message, fields, where);
  }
  void log(Level level, TextRef message, std::initializer_list<Field> fields = {},
           SourceLocation where = SourceLocation::here()) const noexcept {
    if (enabled(level)) {
      write(level, message.view(), {fields.begin(), fields.size()}, where);
    }
  }
  /// For as many fields as there are at run time.
  void log(Level level, TextRef message, const std::vector<Field>& fields,
           SourceLocation where = SourceLocation::here()) const noexcept {
    if (enabled(level)) {
      write(level, message.view(), fields, where);
    }
  }

  /// A logger of the same name and level whose records have these fields, too. They are encoded
  /// here, once. A record's own fields come later, and so count when names are equal.
  [[nodiscard]] Logger with(std::initializer_list<Field> fields) const;

  /// A logger with the name `NAME.child`, the same fields, and a level of its own. It begins with
  /// this one's, unless the environment has one for its name.
  [[nodiscard]] Logger named(std::string_view child) const;

  /// For what is dear to find out before a call.
  [[nodiscard]] bool enabled(Level level) const noexcept {
    return static_cast<std::uint8_t>(level) >= threshold_->load(std::memory_order_relaxed);
  }
  /// From now on, for this logger, its copies and those made of it by `with`. Empty: nothing at all
  /// is logged.
  void set_level(std::optional<Level> level) const noexcept;
  [[nodiscard]] std::optional<Level> level() const noexcept;

  [[nodiscard]] std::string_view name() const noexcept;

  /// Returns when all that was logged before is where it belongs, at the latest after `timeout` (in
  /// all, not for each target); whether it is. The last copy of a logger that goes closes what it
  /// alone holds: a pipeline takes its close_timeout for it.
  // NOLINTNEXTLINE(modernize-use-nodiscard): often only haste is meant.
  bool flush(std::chrono::milliseconds timeout) const noexcept;

 private:
  friend class ScopedContext;
  using Threshold = std::atomic<std::uint8_t>;
  struct Core;
  struct State;

  explicit Logger(std::shared_ptr<const State> state) noexcept;
  void write(Level level, std::string_view message, std::span<const Field> fields,
             SourceLocation where) const noexcept;
  [[nodiscard]] const Redaction& redaction() const noexcept;

  std::shared_ptr<const State> state_;
  Threshold* threshold_;  ///< Of the state.
};

}  // namespace spillway
