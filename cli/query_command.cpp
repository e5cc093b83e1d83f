// SPDX-License-Identifier: MIT
#include "cli/query_command.h"

#include <spillway/prepared_statement.h>

#include "base/counted.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/parameter.h"
#include "cli/result_text.h"
#include "cli/stop_signals.h"
#include "cli/stop_watcher.h"
#include "d1/sql_text.h"

#include <unistd.h>

#include <string>
#include <utility>

namespace spillway {
namespace {

Result<Row> values_of(const std::vector<std::string>& parameters) {
  Row row;
  for (const std::string& text : parameters) {
    Result<Value> value = parse_parameter(text);
    if (!value) {
      return value.error();
    }
    row.push_back(*std::move(value));
  }
  return row;
}

std::string text_of(const ResultSet& result, bool is_json) {
  if (is_json) {
    return json_lines(result);
  }
  return isatty(STDOUT_FILENO) != 0 ? aligned_text(result) : tab_text(result);
}

// "2 rows, 0 changed; 7 rows read, 0 written". SQLite does not count what is read and written.
std::string summary(const ResultSet& result, Dialect dialect) {
  const Meta& meta = result.meta();
  std::string text =
      counted(result.size(), "row") + ", " + std::to_string(meta.changes) + " changed";
  if (dialect == Dialect::kD1) {
    text += "; " + counted(meta.rows_read, "row") + " read, " + std::to_string(meta.rows_written) +
            " written";
  }
  return text;
}

Result<ResultSet> query(Database& database, const QueryOptions& options, Row values,
                        const StopWatcher& stop) {
  ExecuteOptions limits;
  limits.cancel = stop.token();
  const PreparedStatement statement = database.prepare(options.sql);
  if (values.empty()) {
    return statement.all(limits);
  }
  return statement.bind_rows({std::move(values)}).all(limits);
}

Effect effect_of(const std::string& sql) {
  const auto statement = parse_statement(sql);
  return statement && statement->does_read_only ? Effect::kReads : Effect::kMayWrite;
}

// A signal stops the statement, so that what became of it is known and said.
ExitCode run_on(Database& database, const QueryOptions& options, Row values) {
  const auto stop_fd = install_stop_signals();
  if (!stop_fd) {
    return refuse(ExitCode::kError, stop_fd.error().message());
  }
  const auto result = query(database, options, std::move(values), StopWatcher(*stop_fd));
  if (!result) {
    return refuse(exit_code_of_statement(result.error()),
                  explained(result.error(), effect_of(options.sql)));
  }
  const Printed printed = print_out(text_of(*result, options.is_json));
  say(summary(*result, database.traits().dialect));
  return printed == Printed::kFailed ? ExitCode::kError : ExitCode::kDone;
}

}  // namespace

ExitCode run_query(const QueryOptions& options) {
  if (options.sql.empty()) {
    return refuse(ExitCode::kUsage, "no SQL given, for example 'SELECT count(*) FROM logs'");
  }
  Result<Row> values = values_of(options.parameters);
  if (!values) {
    return refuse(ExitCode::kUsage, values.error().message());
  }
  const auto open_database = factory_of(options.database, OpenMode::kExisting);
  if (!open_database) {
    return refuse(ExitCode::kUsage, open_database.error().message());
  }
  const auto database = (*open_database)();
  if (!database) {
    return refuse(exit_code_of_open(database.error()), explained(database.error()));
  }
  return run_on(**database, options, *std::move(values));
}

}  // namespace spillway
