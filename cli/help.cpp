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
  tail         Show the newest rows of a log, of a window of time, or as they come
  d1 query     Run one SQL statement, in D1 or a file

Options:
  -h, --help   Show this text; spillway COMMAND --help shows that of a command
  --version    Show the version

Each command says in its own help what it answers with which exit code.

Example:
  my-server 2>&1 | spillway log --db sqlite:logs.db
  spillway tail --db sqlite:logs.db --since 15min --level error
)";

constexpr const char* kDatabase =
    R"(
The database:
  sqlite:PATH                 A local file
  d1://ACCOUNT_ID/DATABASE_ID Cloudflare D1; d1:///DATABASE_ID where CLOUDFLARE_ACCOUNT_ID
                              is set. The token is what --token-file holds, read again
                              after a refusal, at most 60 s later, else what
                              CLOUDFLARE_API_TOKEN holds; CLOUDFLARE_API_BASE_URL replaces
                              Cloudflare's address
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
  --db URL               The database, see below; a missing file is created. Required
  --token-file FILE      The token for D1, in a file
  --table NAME           The table; created if it is missing (default: logs)
  --context NAME         The rows' context: who speaks (default: stdin)
  --level LEVEL          The level of a line that names none: trace, debug, info, warn,
                         error or critical (default: info)
  --level-from SOURCE    line: the first ERROR, [error] or error: among the first six
                         words of a line is its level; none: --level for all (default: line)
  --input FORMAT         lines: every line is a message (default); json: a line that is a
                         JSON object is a record, see below
  --write-pause TIME     How long writes pause after an overload (default: 30s)
  --error-interval TIME  In a pause, one ERROR line is tried per this time (default: 5s)
  -h, --help             Show this text

TIME is a whole number with its unit, from 1ms to 1h: 500ms, 30s, 2min.

With --input json the row has of such a line, in each case from the first of these members
that can be read:
  created_at  time, timestamp, ts, @timestamp: a time of RFC 3339 with its offset, or a
              number of s, ms, us or ns since 1970, by its size; else the time of reading
  level       level, severity, levelname: a word, or 10 (trace) to 60 (fatal) as pino has
              it; else that of --level, and with --level-from none always that
  message     message, msg, event: a text; else empty
  fields      All else as it stands. Of members with the same name the last one counts
Any other line is a message, as with --input lines.

At the end of its input it stays as long as rows go, and up to 15 s longer for D1: 10 s
for an answer, 5 s for what is left. For a locked file, in a pause and after a signal it is
5 s in all. SIGTERM, SIGINT or SIGHUP: what is in the pipe is still stored. A second one
ends at once.
)";

constexpr const char* kTail =
    R"(Usage: spillway tail --db URL [OPTION]…

Shows the newest rows of a log table, the newest at the bottom: tail(1) for a database.

  spillway tail --db sqlite:logs.db
  spillway tail --db sqlite:logs.db --since 15min --level error --follow
  spillway tail --db sqlite:logs.db --since 2026-08-28T06:30 --until 2026-08-28T06:40

Rows that name missing ones (context `spillway`) stand between ***. The table is
never written to (beside a file SQLite may make its -wal and -shm), and only the stretch of
it that is asked for is read.

Options:
  --db URL           The database, see below. Required
  --token-file FILE  The token for D1, in a file
  --table NAME       The table (default: logs)
  --since TIME       Rows of this time and later
  --until TIME       Rows before this time
  --level LEVEL      Rows of this level and above: trace, debug, info, warn, error, critical
  --context NAME     Rows of this context
  --grep TEXT        Rows whose message or fields hold TEXT, upper and lower case as given
  --limit N          The newest N, at most 100000 (default: 20; with --since: all)
  --follow           Go on with rows as they come, until Ctrl-C; also with those that are
                     stored late: up to 15 s at once, up to 5 min after half a minute
  --interval TIME    How often --follow looks (default: every second, at D1 every 5 s)
  --json             One JSON object a line, the row as it is stored
  -h, --help         Show this text

TIME is so long ago (30s, 15min, 2h, 3d, 1w), or a time in UTC as the rows have it:
2026-08-28T06:35:12.345Z, or the beginning of one: 2026-08-28 is its first moment.

A row is a line: time, level, context, message, fields. More lines of a message are set
in by four spaces. Control characters, and others that could steer the terminal, are
shown as \x1b or \u202e. Colours only on a terminal, and not where NO_COLOR is set.

No rows can itself be a symptom: an overloaded database takes no logs. The row that
counts what is missing comes when it takes them again.
)";

constexpr const char* kQuery =
    R"(Usage: spillway d1 query --db URL [OPTION]… [--] SQL [PARAM]…

Runs one SQL statement, and shows the rows it answers on stdout and what it did on
stderr. It is sent once; after a failure nothing is repeated. Ctrl-C stops it and says
whether it may have been executed all the same.

  spillway d1 query --db sqlite:logs.db 'SELECT level, count(*) FROM logs GROUP BY 1'
  spillway d1 query --db d1:///DATABASE_ID 'DELETE FROM app WHERE id = ?' int:42

Options:
  --db URL           The database, see below; a missing file is an error. Required
  --token-file FILE  The token for D1, in a file
  --json             One JSON object a row, a line each
  -h, --help         Show this text

PARAM is the value of a ? in SQL, in order. It is a text, unless it says another type:
  int:-5  real:1.5  hex:00FF (a blob)  null:      and  text:int:5  is the text int:5
Behind -- nothing is an option: spillway d1 query --db URL -- '--comment…' -x

On a terminal the rows are a table; otherwise a line each with tabs between the values,
the columns' names first. In both, what could steer the terminal is shown as \x1b.
In JSON a blob is an array of its bytes. What D1 answers to RETURNING, PRAGMA and EXPLAIN
has integers from 2^53 on rounded, shown as reals; SELECT gives all their digits.
)";

constexpr const char* kTailDone = R"(
Exit codes:
  0  Done, also when there were no rows or a signal ended --follow
)";

constexpr const char* kQueryDone = R"(
Exit codes:
  0  Done, also when there were no rows
)";

constexpr const char* kReadingExitCodes =
    R"(  1  The database refused it, a server the token or the name of the database too; it was
     interrupted and nothing was changed; or stdout could not be written
  2  Usage, or what can be seen here at start: no such file, no token
  6  The database is unavailable, has too much to do or gave no certain answer; the same
     may work later
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
  2  Usage or configuration that can be seen here; told at start, before anything is read
  6  The database did not take all of it; the closing line says how much. What a server
     refuses, the token too, is told when the first row is sent, and ends so
)";

}  // namespace

std::string program_help() { return kProgram; }

std::string log_help() { return std::string(kLog) + kDatabase + kClosingLine + kExitCodes; }

std::string tail_help() { return std::string(kTail) + kDatabase + kTailDone + kReadingExitCodes; }

std::string query_help() {
  return std::string(kQuery) + kDatabase + kQueryDone + kReadingExitCodes;
}

}  // namespace spillway
