// SPDX-License-Identifier: MIT
#include "cli/retention_help.h"

namespace spillway {
namespace {

constexpr const char* kRetention =
    R"(Usage: spillway-retention COMMAND --db URL [OPTION]…

Deletes old rows from a table of logs, in short steps that others hardly notice, and says
beforehand and afterwards what goes. Made for cron: what one run leaves the next one does.

  spillway-retention plan --db sqlite:app.db --keep 30d --keep-level DEBUG=2d
  spillway-retention run --db sqlite:app.db --keep 30d --keep-level DEBUG=2d --quiet

Commands:
  run            Delete what the policy lets go, and give space back
  plan           Say what run would do; the database cannot be written to
  check          Say whether runs keep the policy, without reading the table
  restore FILE   Put the rows of an archive back, each once

The database (all commands):
  --db URL             sqlite:PATH, which must exist, or d1://ACCOUNT_ID/DATABASE_ID;
                       spillway log --help says more. Required
  --token-file FILE    The token for D1, in a file; else CLOUDFLARE_API_TOKEN holds it
  --table NAME         The table (default: logs; restore: the one that FILE names)

The policy (run, plan, check; at least one of them):
  --keep TIME          How long rows are kept
  --keep-level LEVEL=TIME
                       How long rows of this level are; as often as there are levels
  --max-rows N         Beside that only the newest N stay, of whatever level
  --time-column NAME   Where the time stands in a table that others made, if not in
                       created_at beside level and message; with it --allow-delete is
                       required

TIME is a whole number and its unit, min, h, d or w, up to 100 years; or forever. There is
no m: it could be minutes or months. Strictly older rows go; rows whose time is missing,
cannot be read or is in the future stay, and are counted.

The work (run, plan):
  --archive DIR        Rows go to files in DIR, proven, before they are deleted
  --chunk N            Rows of a step, at most 100000; auto: by latency (default: auto)
  --target-latency TIME
                       How long a step may take (default: 50ms, for D1 250ms)
  --max-runtime TIME   Stop after this time, for example 50min
  --max-written N      Stop after so many rows written
  --allow-delete N     Let a refused run through, to delete at most N rows
  --now TIME           A rehearsal: what would go at this time, 2026-08-28T06:35, or so
                       long ago, 3d; only plan takes one in the future
  --dry-run            The same as plan (run)
  --exact              Count the rows that would go, which reads the table (plan)

What is said (all commands):
  --json               One JSON object on stdout, also of a failure
  --quiet              Nothing if all is well (run, check, restore)
  --config FILE        Options in TOML, see below
  -h, --help           Show this text
  --version            Show the version

The file of --config has the options without their dashes and with _ for - in between;
a key that is not known is an error. What the command line says counts, level by level.
Others than its owner must not be able to write to it.

  db = "sqlite:app.db"
  keep = "30d"
  max_rows = 50_000_000
  [keep_level]
  DEBUG = "2d"

--now, --dry-run, --exact and --config itself stand in no file.

A run is refused where it would be a mistake: the clock is wrong, the table has stood
still and all of it would go, or nearly all because the policy was changed. plan --exact
says so too; --allow-delete lets it through.

SIGTERM, SIGINT or SIGHUP: the run ends within 2 s, and what it deleted stays deleted.

Exit codes:
  0  Done, and the policy is met
  1  Another error: no such table, the token was refused, rows could not be restored
  2  Usage, or what can be seen here at start: no such file, no token; nothing was touched
  3  Another run is at work
  4  Refused, see above; nothing was deleted
  5  Stopped by --max-runtime, --max-written or a signal; the next run goes on
  6  The database has too much to do or cannot be reached; the next run goes on
  7  All was done, and the policy is not met
)";

}  // namespace

std::string retention_help() { return kRetention; }

}  // namespace spillway
