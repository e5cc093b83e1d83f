// SPDX-License-Identifier: MIT
#include "tests/golden/known_differences.h"

namespace spillway::golden {
namespace {

constexpr const char* kLimits = "D1's limits";
constexpr const char* kAuthorizer = "what D1 forbids";
constexpr const char* kOwnTables = "what D1 keeps for itself";
constexpr const char* kOwnChecks = "said by us";
constexpr const char* kOneStatement = "one text, one statement";
constexpr const char* kLasting = "PRAGMA that lasts";
constexpr const char* kReset = "D1 resets the object";
constexpr const char* kNewer = "a newer SQLite";

constexpr Difference kDifferences[] = {
    {kLimits, "101 parameters"},
    {kLimits, "parameter 101"},
    {kLimits, "parameter 0"},
    {kLimits, "100,001 bytes of SQL"},
    {kLimits, "fewer than 100,000 characters, more bytes"},
    {kLimits, "two texts of 1.2 MB in one row"},
    {kLimits, "two texts of 1.2 MB in one value"},
    {kLimits, "a blob of 3,000,000 bytes"},
    {kLimits, "6 terms of a compound SELECT"},
    {kLimits, "a table of 101 columns"},
    {kLimits, "a LIKE pattern of 51 bytes"},
    {kLimits, "a GLOB pattern of 51 bytes"},
    {kLimits, "an expression of depth 101"},
    {kLimits, "an expression of depth 1,001"},
    {kAuthorizer, "ATTACH"},
    {kAuthorizer, "DETACH"},
    {kAuthorizer, "a temporary table"},
    {kAuthorizer, "a temporary view"},
    {kAuthorizer, "the version of SQLite"},
    {kAuthorizer, "a compile option"},
    {kAuthorizer, "power"},
    {kAuthorizer, "R-tree"},
    {kAuthorizer, "an unknown module"},
    {kAuthorizer, "a table of Cloudflare's"},
    {kAuthorizer, "forbidden: PRAGMA journal_mode"},
    {kAuthorizer, "forbidden: PRAGMA synchronous"},
    {kAuthorizer, "forbidden: PRAGMA page_size"},
    {kAuthorizer, "forbidden: PRAGMA page_count"},
    {kAuthorizer, "forbidden: PRAGMA freelist_count"},
    {kAuthorizer, "forbidden: PRAGMA max_page_count"},
    {kAuthorizer, "forbidden: PRAGMA auto_vacuum"},
    {kAuthorizer, "forbidden: PRAGMA user_version"},
    {kAuthorizer, "forbidden: PRAGMA integrity_check"},
    {kAuthorizer, "forbidden: PRAGMA cache_size"},
    {kAuthorizer, "forbidden: PRAGMA busy_timeout"},
    {kAuthorizer, "forbidden: PRAGMA encoding"},
    {kAuthorizer, "forbidden: PRAGMA database_list"},
    {kAuthorizer, "forbidden: PRAGMA application_id"},
    {kAuthorizer, "set user_version"},
    {kAuthorizer, "PRAGMA no_such_pragma"},
    {kAuthorizer, "a forbidden PRAGMA as a table"},
    {kOwnTables, "a table that D1 keeps for itself"},
    {kOwnTables, "the names of tables that D1 keeps for itself"},
    {kOwnChecks, "too few values"},
    {kOwnChecks, "too many values"},
    {kOwnChecks, "no values"},
    {kOwnChecks, "values for no parameter"},
    {kOwnChecks, "a NUL in the SQL text"},
    {kOwnChecks, "transaction: BEGIN"},
    {kOwnChecks, "transaction: BEGIN IMMEDIATE"},
    {kOwnChecks, "transaction: COMMIT"},
    {kOwnChecks, "transaction: END"},
    {kOwnChecks, "transaction: ROLLBACK"},
    {kOwnChecks, "transaction: SAVEPOINT s"},
    {kOwnChecks, "transaction: RELEASE s"},
    {kOwnChecks, "transaction: ROLLBACK TO s"},
    {kOwnChecks, "an empty batch"},
    {kOwnChecks, "a batch with an empty member"},
    {kOwnChecks, "an empty text"},
    {kOwnChecks, "a blank text"},
    {kOwnChecks, "a semicolon"},
    {kOwnChecks, "a comment alone"},
    {kOwnChecks, "a block comment alone"},
    {kOneStatement, "two statements in one text"},
    {kOneStatement, "two statements in one text, the second fails"},
    {kLasting, "foreign keys are still on"},
    {kReset, "insert or rollback a duplicate"},
    {kReset, "a deferred foreign key violated at the end"},
    {kNewer, "a wrong JSON path", 3'045'000},
    {kNewer, "a NUL in JSON", 3'045'000},
    {kNewer, "JSON with a trailing comma", 3'042'000},
    {kNewer, "JSON5", 3'042'000},
    {kNewer, "jsonb", 3'045'000},
    {kNewer, "a query plan", 3'047'000},
    {kNewer, "full-text search, insert", 3'044'000},
    {kNewer, "dates that are none", 3'045'000},
    {kNewer, "unhex", 3'041'000},
    {kNewer, "octet_length", 3'043'000},
    {kNewer, "concat and concat_ws", 3'044'000},
    {kNewer, "string_agg", 3'044'000},
    {kNewer, "ORDER BY in an aggregate", 3'044'000},
    {kNewer, "unixepoch with fractions", 3'042'000},
    {kNewer, "a number with underscores", 3'046'000},
};

}  // namespace

std::span<const Difference> known_differences() { return kDifferences; }

}  // namespace spillway::golden
