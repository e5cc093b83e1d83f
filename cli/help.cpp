// SPDX-License-Identifier: MIT
#include "cli/help.h"

namespace spillway {
namespace {

constexpr const char* kProgram =
    R"(Usage: spillway COMMAND [OPTION]…

Keeps logs in a database, also while that database has too much to do: the program
that logs is never stopped, the database is left to recover, and what had to be left
out is counted in the table itself.

Commands:
  log          Store the lines of stdin in a database

Options:
  -h, --help   Show this text; spillway COMMAND --help shows that of a command
  --version    Show the version

Example:
  my-server 2>&1 | spillway log --db sqlite:logs.db
  sqlite3 -box logs.db "SELECT created_at, level, message FROM logs
                        ORDER BY created_at DESC LIMIT 20"
)";

constexpr const char* kLog =
    R"(Usage: spillway log --db URL [OPTION]…

Reads lines from stdin until it ends and stores each as a row of a table:
logger(1) for a database.

  my-server 2>&1 | spillway log --db sqlite:logs.db

When the database is locked or overloaded, writes pause. Until they go on, lines below
ERROR are left out, one ERROR line is tried now and then (the others are left out too),
and stdin is read on, so that the program in front never waits. Then one row of level WARN
and context `spillway` says what is missing: "Log persistence paused while SQLite was busy,
412 skipped"; its `fields` hold the time span and the number of lines of each level.

Options:
  --db URL               The database, sqlite:PATH; a missing file is created. Required
  --table NAME           The table; created if it is missing (default: logs)
  --context NAME         The rows' context: who speaks (default: stdin)
  --level LEVEL          The level of a line that names none: trace, debug, info, warn,
                         error or critical (default: info)
  --level-from SOURCE    line: the first ERROR, [error] or error: among the first six
                         words of a line is its level; none: --level for all (default: line)
  --input FORMAT         lines: every line is a message (default, and the only one so far)
  --write-pause TIME     How long writes pause after an overload (default: 30s)
  --error-interval TIME  In a pause, one ERROR line is tried per this time (default: 5s)
  -h, --help             Show this text

TIME is a whole number with its unit, from 1ms to 1h: 500ms, 30s, 2min.
At the end it waits up to 5 s for the database. SIGTERM, SIGINT or SIGHUP: what is in the
pipe is still stored. A second one ends at once.
)";

constexpr const char* kClosingLine =
    R"(
The closing line is one JSON object on stdout; all else is said on stderr.
  issued         Lines read = stored + all of skipped + in_doubt + dead_lettered + spooled
  stored         Lines in the table
  skipped        Lines left out, by level
  unreported     The part of skipped that no row in the table names
  in_doubt       Lines sent to the database without an answer: perhaps stored
  dead_lettered  Lines the database refused, kept elsewhere (0 without a spool)
  spooled        Lines kept on this machine for later (0 without a spool)
  pauses         Times that writes began to pause
  attempts       Attempts to write
  own            Rows that spillway added to name what is missing
)";

constexpr const char* kExitCodes =
    R"(
Exit codes:
  0  Every line is in the table or named in a row that is
  1  Another error: stdin could not be read or stdout not be written
  2  Usage or configuration; told at start, before anything is read
  6  The database did not take all of it; the closing line says how much
)";

}  // namespace

std::string program_help() { return std::string(kProgram) + kClosingLine + kExitCodes; }

std::string log_help() { return std::string(kLog) + kClosingLine + kExitCodes; }

}  // namespace spillway
