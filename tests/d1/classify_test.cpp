// SPDX-License-Identifier: MIT
#include "d1/classify.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <iterator>
#include <string>
#include <vector>

namespace spillway {
namespace {

struct Case {
  const char* text;
  StatusCode code;
  Execution execution = Execution::kNo;
};

constexpr Execution kMaybe = Execution::kMaybe;

// Every text of D1 itself that is documented or was reported, as it comes over REST.
const Case kPlatform[] = {
    {"D1 DB is overloaded. Too many requests queued.", StatusCode::kOverload},
    {"D1 DB is overloaded. Requests queued for too long.", StatusCode::kOverload, kMaybe},
    {"Durable Object is overloaded. Too many requests queued.", StatusCode::kOverload},
    {"Durable Object is overloaded. Too much data queued.", StatusCode::kOverload},
    {"Durable Object is overloaded. Too many requests for the same object within a 10 second "
     "window.",
     StatusCode::kOverload},
    {"Durable Object is overloaded. Requests queued for too long.", StatusCode::kOverload, kMaybe},
    {"Please wait and consider throttling your request speed", StatusCode::kRateLimited},
    {"More than 1200 requests per 300 seconds reached. Please wait and consider throttling your "
     "request speed",
     StatusCode::kRateLimited},
    {"Cannot resolve D1 DB due to transient issue on remote node.", StatusCode::kTransient},
    {"Internal error while starting up D1 DB storage caused object to be reset.",
     StatusCode::kTransient},
    {"Internal error while starting up Durable Object storage caused object to be reset.",
     StatusCode::kTransient},
    {"Currently processing a long-running export.", StatusCode::kTransient},
    {"Currently processing a long-running import.", StatusCode::kTransient},
    {"Currently processing a long-running export. Cannot start a new export until that completes "
     "or times out.",
     StatusCode::kTransient},
    {"Cancelled due to no poll() received in 15000ms.", StatusCode::kTransient},
    {"internal error", StatusCode::kLost, kMaybe},
    {"internal error; reference = e_PVSMDp_4052de8290884726940584d42f9c98d7", StatusCode::kLost,
     kMaybe},
    {"internal error; reference = 0a1b2c3d4e5f6g7h8i9j0k1l", StatusCode::kLost, kMaybe},
    {"Internal error in D1 DB storage caused object to be reset.", StatusCode::kLost, kMaybe},
    {"Internal error in D1 storage caused object to be reset.", StatusCode::kLost, kMaybe},
    {"Internal error in D1 DB storage caused object to be reset; reference = abc123",
     StatusCode::kLost, kMaybe},
    {"Internal error in Durable Object storage caused object to be reset; reference = abc123",
     StatusCode::kLost, kMaybe},
    {"Network connection lost.", StatusCode::kLost, kMaybe},
    {"Replica disconnected from primary.", StatusCode::kLost, kMaybe},
    {"D1 DB reset because its code was updated.", StatusCode::kLost, kMaybe},
    {"Durable Object reset because its code was updated.", StatusCode::kLost, kMaybe},
    {"Durable Object was reset and rolled back to its last known good state because the "
     "application left the database in a state that cannot be read.",
     StatusCode::kLost, kMaybe},
    {"Can't read from request stream because client disconnected.", StatusCode::kLost, kMaybe},
    {R"({"D1_RESET_DO":true})", StatusCode::kLost, kMaybe},
    {"Upstream service unavailable", StatusCode::kLost, kMaybe},
    {"Failed to parse body as JSON, got: upstream request timeout", StatusCode::kLost, kMaybe},
    {"Error 9000: exception caught in D1 core, please retry", StatusCode::kLost, kMaybe},
    {"failed to allocate for query", StatusCode::kLost, kMaybe},
    {"D1 DB storage operation exceeded timeout which caused object to be reset.",
     StatusCode::kTooBig, kMaybe},
    {"D1 DB's isolate exceeded its memory limit and was reset.", StatusCode::kTooBig, kMaybe},
    {"D1 DB exceeded its CPU time limit and was reset.", StatusCode::kTooBig, kMaybe},
    {"RPC message size limit exceeded", StatusCode::kTooBig, kMaybe},
    {"Invalid string length", StatusCode::kTooBig, kMaybe},
    {"Exceeded maximum DB size.", StatusCode::kStorageFull},
    {"Your account has exceeded D1's maximum account storage limit, please contact Cloudflare to "
     "raise your limit.",
     StatusCode::kStorageFull},
    {"Your account has exceeded D1's free tier daily row read limit. Upgrade to a paid plan or "
     "wait "
     "until tomorrow (midnight UTC) to continue.",
     StatusCode::kQuota},
    {"Your account has exceeded D1's free tier daily row write limit. Upgrade to a paid plan or "
     "wait until tomorrow (midnight UTC) to continue. See "
     "https://developers.cloudflare.com/d1/platform/limits/ for more details.",
     StatusCode::kQuota},
    {"Authentication error", StatusCode::kAuth},
    {"The database 00000000-0000-4000-8000-000000000000 could not be found", StatusCode::kConfig},
    {"The given account is not valid or is not authorized to access this service",
     StatusCode::kConfig},
    {"Could not route to /client/v4/accounts//d1/database, perhaps your object identifier is "
     "invalid?",
     StatusCode::kConfig},
    {"No route for the URI", StatusCode::kConfig},
    {"You can no longer query a D1 alpha database. Please follow "
     "https://developers.cloudflare.com/d1/platform/alpha-migration/ to migrate your alpha "
     "database "
     "and resume querying.",
     StatusCode::kConfig},
    {"No SQL statements detected.", StatusCode::kPermanent},
    {"SQL code did not contain a statement.", StatusCode::kPermanent},
    {"The request is malformed: Requests without any query are not supported",
     StatusCode::kPermanent},
    {"System limit reached: databases per account (10)", StatusCode::kPermanent},
    {"Not currently importing anything.", StatusCode::kPermanent},
    {"D1 Export error: cannot export databases with Virtual Tables (fts5)", StatusCode::kPermanent},
    {"Too many API requests by single worker invocation.", StatusCode::kPermanent},
    {"To execute a transaction, please use the state.storage.transaction() or "
     "state.storage.transactionSync() APIs instead of the SQL BEGIN TRANSACTION or SAVEPOINT "
     "statements.",
     StatusCode::kPermanent},
    {"Type 'object' not supported for value '256'", StatusCode::kPermanent},
    {"Wrong number of parameter bindings for SQL query.", StatusCode::kPermanent},
    {"When executing multiple SQL statements in a single call, only the last statement can have "
     "parameters.",
     StatusCode::kPermanent},
    {"Durable Object storage operation exceeded timeout which caused object to be reset.",
     StatusCode::kTooBig, kMaybe},
    {"Durable Object's isolate exceeded its memory limit and was reset.", StatusCode::kTooBig,
     kMaybe},
    {"Durable Object exceeded its CPU time limit and was reset.", StatusCode::kTooBig, kMaybe},
};

struct EngineCase {
  const char* text;
  const char* name;  // Of SQLite's code, as D1 puts it behind the text.
  StatusCode code;
  Execution execution = Execution::kNo;
  // Known without the name too.
  bool is_plain = true;
};

const EngineCase kEngine[] = {
    {"database is locked", "SQLITE_BUSY", StatusCode::kOverload},
    {"database table is locked: logs", "SQLITE_LOCKED", StatusCode::kOverload},
    {"locking protocol", "SQLITE_PROTOCOL", StatusCode::kOverload},
    {"interrupted", "SQLITE_INTERRUPT", StatusCode::kTransient},
    {"out of memory", "SQLITE_NOMEM", StatusCode::kTransient},
    {"disk I/O error", "SQLITE_IOERR", StatusCode::kLost, kMaybe},
    {"disk I/O error", "SQLITE_IOERR_FSYNC", StatusCode::kLost, kMaybe},
    {"database or disk is full", "SQLITE_FULL", StatusCode::kStorageFull},
    {"string or blob too big", "SQLITE_TOOBIG", StatusCode::kTooBig},
    {"statement too long", "SQLITE_TOOBIG", StatusCode::kTooBig},
    {"too many SQL variables", "SQLITE_ERROR", StatusCode::kTooBig},
    {"unable to open database file", "SQLITE_CANTOPEN", StatusCode::kConfig},
    {"attempt to write a readonly database", "SQLITE_READONLY", StatusCode::kConfig},
    {"file is not a database", "SQLITE_NOTADB", StatusCode::kPermanent},
    {"database disk image is malformed", "SQLITE_CORRUPT", StatusCode::kPermanent},
    {"access permission denied", "SQLITE_PERM", StatusCode::kConfig, Execution::kNo, false},
    {"datatype mismatch", "SQLITE_MISMATCH", StatusCode::kConstraint},
    {"UNIQUE constraint failed: one.k", "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)",
     StatusCode::kConstraint},
    {"UNIQUE constraint failed: one.id",
     "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)", StatusCode::kConstraint},
    {"NOT NULL constraint failed: one.k", "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_NOTNULL)",
     StatusCode::kConstraint},
    {"CHECK constraint failed: k > 0", "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)",
     StatusCode::kConstraint},
    {"FOREIGN KEY constraint failed", "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)",
     StatusCode::kConstraint},
    {"Durable Object was reset and rolled back to its last known good state because the "
     "application left the database in a state where constraints were violated: FOREIGN KEY "
     "constraint failed",
     "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)", StatusCode::kConstraint,
     Execution::kNo, false},
    {"refused by a trigger of the user's", "SQLITE_CONSTRAINT_TRIGGER", StatusCode::kConstraint,
     Execution::kNo, false},
    {"no such table: missing", "SQLITE_ERROR", StatusCode::kSchema},
    {"no such column: missing", "SQLITE_ERROR", StatusCode::kSchema},
    {"table logs has no column named seq", "SQLITE_ERROR", StatusCode::kSchema},
    {"table plain already exists", "SQLITE_ERROR", StatusCode::kPermanent},
    {"near \"SELEC\": syntax error", "SQLITE_ERROR", StatusCode::kPermanent},
    {"unrecognized token: \"'a\"", "SQLITE_ERROR", StatusCode::kPermanent},
    {"incomplete input", "SQLITE_ERROR", StatusCode::kPermanent},
    {"too many columns on wide", "SQLITE_ERROR", StatusCode::kPermanent},
    {"too many terms in compound SELECT", "SQLITE_ERROR", StatusCode::kPermanent},
    {"LIKE or GLOB pattern too complex", "SQLITE_ERROR", StatusCode::kPermanent},
    {"ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint", "SQLITE_ERROR",
     StatusCode::kPermanent},
    {"not authorized", "SQLITE_AUTH", StatusCode::kPermanent},
    {"not authorized to use function: sqlite_version", "SQLITE_ERROR", StatusCode::kPermanent},
    {"access to _cf_KV.key is prohibited", "SQLITE_AUTH", StatusCode::kPermanent},
    {"cannot VACUUM from within a transaction", "SQLITE_ERROR", StatusCode::kPermanent},
    {"cannot start a transaction within a transaction", "SQLITE_ERROR", StatusCode::kPermanent},
    {"a text that nobody has seen yet", "SQLITE_ERROR", StatusCode::kPermanent, Execution::kNo,
     false},
};

constexpr const char* kPrefixes[] = {
    "",          "D1_ERROR: ",          "D1_EXEC_ERROR: ",          "Error: ", "D1 REST: ",
    "NOSENTRY ", "D1_ERROR: NOSENTRY ", "Error: D1_ERROR: Error: ", "  "};
constexpr const char* kTails[] = {"", " [code: 7500]", " (code: 7500)", "\n"};
constexpr int kHttpStatuses[] = {200, 400, 401, 404, 413, 429, 500, 503};

Status classified(std::string text, int http_status, int code = 7500) {
  return classify({.errors = {{code, std::move(text)}}, .http_status = http_status});
}

void expect_class(const std::string& text, int http_status, StatusCode code, Execution execution) {
  const Status status = classified(text, http_status);
  EXPECT_EQ(status.code(), code) << text << " HTTP " << http_status;
  EXPECT_EQ(status.execution(), execution) << text << " HTTP " << http_status;
  EXPECT_EQ(status.http_status(), http_status);
  EXPECT_EQ(status.d1_code(), 7500);
}

void expect_class_in_every_dress(const std::string& text, StatusCode code, Execution execution) {
  for (const char* prefix : kPrefixes) {
    for (const char* tail : kTails) {
      expect_class(prefix + text + tail, 400, code, execution);
    }
  }
  for (const int http_status : kHttpStatuses) {
    expect_class(text, http_status, code, execution);
  }
}

std::string without_dot(std::string text) {
  if (text.ends_with('.')) {
    text.pop_back();
  }
  return text;
}

TEST(Classify, KnowsEveryTextOfThePlatformInAnyDressAndUnderAnyHttpStatus) {
  for (const Case& each : kPlatform) {
    const std::string text = each.text;
    expect_class_in_every_dress(text, each.code, each.execution);
    expect_class_in_every_dress(without_dot(text), each.code, each.execution);
    if (!text.starts_with('{')) {
      expect_class_in_every_dress(without_dot(text) + ": SQLITE_ERROR", each.code, each.execution);
    }
  }
}

TEST(Classify, KnowsEveryTextOfTheEngineWithAndWithoutTheNameOfItsCode) {
  for (const EngineCase& each : kEngine) {
    const std::string text = each.text;
    expect_class_in_every_dress(text + ": " + each.name, each.code, each.execution);
    expect_class_in_every_dress(text + " at offset 17: " + each.name, each.code, each.execution);
    if (each.is_plain) {
      expect_class_in_every_dress(text, each.code, each.execution);
      expect_class_in_every_dress(text + " at offset 17.", each.code, each.execution);
    }
  }
}

TEST(Classify, GivesATextOfTheEngineItsCodeWhereD1LeavesItOut) {
  const struct {
    const char* text;
    int code;
  } cases[] = {
      {"database is locked", SQLITE_BUSY},
      {"database table is locked", SQLITE_LOCKED},
      {"database table is locked: logs", SQLITE_LOCKED},
      {"locking protocol", SQLITE_PROTOCOL},
      {"interrupted", SQLITE_INTERRUPT},
      {"out of memory", SQLITE_NOMEM},
      {"disk I/O error", SQLITE_IOERR},
      {"database or disk is full", SQLITE_FULL},
      {"string or blob too big", SQLITE_TOOBIG},
      {"statement too long", SQLITE_TOOBIG},
      {"unable to open database file", SQLITE_CANTOPEN},
      {"attempt to write a readonly database", SQLITE_READONLY},
      {"file is not a database", SQLITE_NOTADB},
      {"database disk image is malformed", SQLITE_CORRUPT},
      {"datatype mismatch", SQLITE_MISMATCH},
      {"UNIQUE constraint failed: one.k", SQLITE_CONSTRAINT_UNIQUE},
      {"NOT NULL constraint failed: one.k", SQLITE_CONSTRAINT_NOTNULL},
      {"CHECK constraint failed: k > 0", SQLITE_CONSTRAINT_CHECK},
      {"FOREIGN KEY constraint failed", SQLITE_CONSTRAINT_FOREIGNKEY},
      {"not authorized", SQLITE_AUTH},
      {"not authorized to use function: sqlite_version", SQLITE_AUTH},
      {"access to _cf_KV.key is prohibited", SQLITE_AUTH},
      {"table plain already exists", SQLITE_ERROR},
      {"near \"SELEC\": syntax error", SQLITE_ERROR},
      {"unrecognized token: \"'a\"", SQLITE_ERROR},
      {"incomplete input", SQLITE_ERROR},
      {"too many columns on wide", SQLITE_ERROR},
      {"too many terms in compound SELECT", SQLITE_ERROR},
      {"LIKE or GLOB pattern too complex", SQLITE_ERROR},
      {"ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint", SQLITE_ERROR},
      {"cannot VACUUM from within a transaction", SQLITE_ERROR},
      {"cannot start a transaction within a transaction", SQLITE_ERROR},
      {"no such table: missing", SQLITE_ERROR},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(classified(each.text, 500).sqlite_code(), each.code) << each.text;
    EXPECT_FALSE(classified(each.text, 500).is_lasting()) << each.text;
  }
}

TEST(Classify, WantsSomethingBetweenTheTwoEndsOfAText) {
  for (const char* text :
       {"The database  could not be found", "The database could not be found",
        "One database of many could not be found", "The database x was found to be elsewhere"}) {
    EXPECT_EQ(classified(text, 400).code(), StatusCode::kPermanent) << text;
  }
  EXPECT_EQ(classified("The database x could not be found", 400).code(), StatusCode::kConfig);
}

TEST(Classify, KnowsWhatD1PutsBeforeAText) {
  for (const char* prefix : {"D1_ERROR: ", "D1_EXEC_ERROR: ", "D1_TYPE_ERROR: ",
                             "D1_COLUMN_NOTFOUND: ", "D1_DUMP_ERROR: ", "D1_SESSION_ERROR: ",
                             "D1 REST: ", "Error: ", "NOSENTRY ", "D1_ERROR:   "}) {
    const Status status = classified(prefix + std::string("Network connection lost."), 400);
    EXPECT_EQ(status.code(), StatusCode::kLost) << prefix;
    EXPECT_EQ(status.message(), "Network connection lost.") << prefix;
  }
}

TEST(Classify, TakesOffNothingButAWholeTail) {
  for (const char* tail :
       {" [code: ]", " [code: 75x]", " [code: 75009", " (code: )", " (code: 7500]",
        " [code: 7500] or so", " at offset 17x", "; reference = a b"}) {
    const std::string text = std::string("Network connection lost") + tail;
    EXPECT_EQ(classified(text, 400).code(), StatusCode::kPermanent) << text;
    EXPECT_EQ(classified(text, 400).message(), text);
  }
  EXPECT_EQ(classified("Network connection lost.  [code: 7500] (code: 1)", 400).message(),
            "Network connection lost.");
  EXPECT_EQ(classified("sensor-123]", 400).message(), "sensor-123]");
}

TEST(Classify, SaysWhatSqliteWouldHaveSaid) {
  const Status status = classified(
      "D1_ERROR: UNIQUE constraint failed: one.k: SQLITE_CONSTRAINT (extended: "
      "SQLITE_CONSTRAINT_UNIQUE) [code: 7500]",
      400);
  EXPECT_EQ(status.message(), "UNIQUE constraint failed: one.k");
  EXPECT_EQ(status.sqlite_code(), 2067);
  EXPECT_EQ(classified("no such column: a at offset 7: SQLITE_ERROR", 400).message(),
            "no such column: a");
  EXPECT_EQ(classified("no such column: a", 400).sqlite_code(), 1);
  EXPECT_EQ(classified("Network connection lost.", 400).sqlite_code(), 0);
}

TEST(Classify, KeepsTheReferenceThatSupportWillAskFor) {
  EXPECT_EQ(classified("D1_ERROR: internal error; reference = abc [code: 7500]", 500).message(),
            "internal error; reference = abc");
}

TEST(Classify, DoesNotMatchAPhraseInsideAnotherText) {
  for (const char* text : {
           "Network connection lost while uploading part 3",
           "Network connection lost. The job was to upload part 3",
           "could not parse \"Network connection lost.\"",
           "INFO [worker] D1 DB is overloaded. Too many requests queued.",
           "row refused: internal error",
           "message was: no such table: logs",
           "expected 'UNIQUE constraint failed: a.b' but got nothing",
           "Internal error in your head storage caused object to be reset",
           "the job was Currently processing a long-running export",
           "Currently processing a long-running exportation",
       }) {
    EXPECT_EQ(classified(text, 400).code(), StatusCode::kPermanent) << text;
    EXPECT_EQ(classified(text, 400).execution(), Execution::kNo) << text;
    EXPECT_EQ(classified(text, 502).code(), StatusCode::kLost) << text;
  }
}

TEST(Classify, BelievesTheEngineWhenItQuotesAText) {
  for (const char* text :
       {"CHECK constraint failed: Network connection lost.",
        "Network connection lost.: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_TRIGGER)",
        "database is locked: SQLITE_BUSY: SQLITE_CONSTRAINT"}) {
    EXPECT_EQ(classified(text, 500).code(), StatusCode::kConstraint) << text;
  }
}

TEST(Classify, LetsTheCodeDecideWhereTheTextIsUnknown) {
  const struct {
    int code;
    StatusCode expected;
  } cases[] = {
      {971, StatusCode::kRateLimited}, {10100, StatusCode::kRateLimited},
      {10000, StatusCode::kAuth},      {9106, StatusCode::kAuth},
      {7403, StatusCode::kConfig},     {7404, StatusCode::kConfig},
      {7003, StatusCode::kConfig},     {7400, StatusCode::kPermanent},
  };
  for (const auto& each : cases) {
    for (const int http_status : kHttpStatuses) {
      const Status status = classified("something new", http_status, each.code);
      EXPECT_EQ(status.code(), each.expected) << each.code << " HTTP " << http_status;
      EXPECT_EQ(status.execution(), Execution::kNo) << each.code;
    }
  }
}

TEST(Classify, LetsTheHttpStatusDecideLast) {
  const struct {
    int http_status;
    StatusCode expected;
  } cases[] = {
      {200, StatusCode::kLost},   {204, StatusCode::kLost},      {299, StatusCode::kLost},
      {300, StatusCode::kConfig}, {399, StatusCode::kConfig},    {301, StatusCode::kConfig},
      {308, StatusCode::kConfig}, {400, StatusCode::kPermanent}, {499, StatusCode::kPermanent},
      {401, StatusCode::kAuth},   {403, StatusCode::kAuth},      {404, StatusCode::kPermanent},
      {413, StatusCode::kTooBig}, {418, StatusCode::kPermanent}, {429, StatusCode::kOverload},
      {500, StatusCode::kLost},   {504, StatusCode::kLost},      {530, StatusCode::kLost},
      {0, StatusCode::kLost},
  };
  for (const auto& each : cases) {
    const Execution execution = each.expected == StatusCode::kLost ? kMaybe : Execution::kNo;
    EXPECT_EQ(classified("something new", each.http_status).code(), each.expected)
        << each.http_status;
    EXPECT_EQ(classify({.http_status = each.http_status}).code(), each.expected);
    EXPECT_EQ(classify({.http_status = each.http_status}).execution(), execution);
  }
}

TEST(Classify, CallsAnExportLastingAndNothingElse) {
  EXPECT_TRUE(classified("Currently processing a long-running export.", 400).is_lasting());
  EXPECT_TRUE(classified("Currently processing a long-running import.", 400).is_lasting());
  EXPECT_FALSE(classified("Network connection lost.", 400).is_lasting());
  EXPECT_FALSE(
      classified("Cannot resolve D1 DB due to transient issue on remote node.", 500).is_lasting());
}

TEST(Classify, GivesNoCodeOfSqlitesToWhatThePlatformSays) {
  for (const Case& each : kPlatform) {
    EXPECT_EQ(classified(each.text, 400).sqlite_code(), 0) << each.text;
  }
}

TEST(Classify, PassesOnWhatTheServerAskedUsToWait) {
  const Status status = classify(
      {.errors = {{971, ""}}, .http_status = 429, .retry_after = std::chrono::seconds(300)});
  EXPECT_EQ(status.code(), StatusCode::kRateLimited);
  EXPECT_EQ(status.retry_after(), std::chrono::seconds(300));
  EXPECT_FALSE(classified("Network connection lost.", 400).retry_after().has_value());
}

TEST(Classify, TakesTheClassFromTheCauseIfTheTextAboveItSaysNothing) {
  const Status status = classify({.errors = {{7500, "Failed query: insert into logs"},
                                             {0, "wrapped once more"},
                                             {0, "D1_ERROR: Network connection lost."}},
                                  .http_status = 400});
  EXPECT_EQ(status.code(), StatusCode::kLost);
  EXPECT_EQ(status.message(), "Failed query: insert into logs");
  ASSERT_NE(status.cause(), nullptr);
  EXPECT_EQ(status.cause()->message(), "wrapped once more");
  ASSERT_NE(status.cause()->cause(), nullptr);
  EXPECT_EQ(status.cause()->cause()->code(), StatusCode::kLost);
  EXPECT_EQ(status.cause()->cause()->cause(), nullptr);
}

TEST(Classify, GivesEachCauseItsOwnClassAndCode) {
  const Status status = classify({.errors = {{7500, "Failed query: insert into logs"},
                                             {10000, "wrapped once more"},
                                             {7403, "D1_ERROR: Network connection lost."}},
                                  .http_status = 400});
  EXPECT_EQ(status.code(), StatusCode::kLost);
  EXPECT_EQ(status.d1_code(), 7500);
  ASSERT_NE(status.cause(), nullptr);
  EXPECT_EQ(status.cause()->code(), StatusCode::kAuth);
  EXPECT_EQ(status.cause()->d1_code(), 10000);
  ASSERT_NE(status.cause()->cause(), nullptr);
  EXPECT_EQ(status.cause()->cause()->code(), StatusCode::kLost);
  EXPECT_EQ(status.cause()->cause()->d1_code(), 7403);
}

TEST(Classify, LetsTheOuterTextWinOverItsCause) {
  const Status status = classify(
      {.errors = {{7500, "UNIQUE constraint failed: a.b"}, {0, "Network connection lost."}},
       .http_status = 500});
  EXPECT_EQ(status.code(), StatusCode::kConstraint);
}

TEST(Classify, LooksAtABoundedNumberOfCauses) {
  D1Failure failure{.errors = {}, .http_status = 400};
  failure.errors.resize(10'000, {0, "and because of"});
  failure.errors.push_back({0, "Network connection lost."});
  const Status status = classify(failure);
  EXPECT_EQ(status.code(), StatusCode::kPermanent);
  std::size_t length = 0;
  for (const Status* cause = status.cause(); cause != nullptr; cause = cause->cause()) {
    ++length;
  }
  EXPECT_EQ(length, kErrorChainMax - 1);
}

TEST(Classify, MakesOneShortLineWithoutHtmlOfEveryMessage) {
  EXPECT_EQ(classified("one\ntwo\x1b[31m", 400).message(), "one two [31m");
  EXPECT_EQ(classified("<html><body>504</body></html>", 504).message(), "unknown error (HTTP 504)");
  EXPECT_EQ(classified("oops <!DOCTYPE html>", 502).message(), "unknown error (HTTP 502)");
  EXPECT_EQ(classified("oops <HEAD>", 502).message(), "unknown error (HTTP 502)");
  EXPECT_EQ(classified("oops <body id='x'>", 502).message(), "unknown error (HTTP 502)");
  EXPECT_EQ(classified("oops <html lang='en'>", 502).message(), "unknown error (HTTP 502)");
  EXPECT_EQ(classified("", 400).message(), "unknown error (HTTP 400)");
  EXPECT_EQ(classified(" \n", 400).message(), "unknown error (HTTP 400)");
  const std::string cut = classified(std::string(10'000, 'x'), 400).message();
  EXPECT_EQ(cut.size(), 256U);
  EXPECT_TRUE(cut.ends_with("xxx..."));
  EXPECT_EQ(classified(std::string(256, 'x'), 400).message(), std::string(256, 'x'));
  EXPECT_LE(classified(std::string(255, 'x') + "\xC3\xA9\xC3\xA9", 400).message().size(), 256U);
  EXPECT_EQ(classified("bad \xFF byte", 400).message(), "bad \xEF\xBF\xBD byte");
}

}  // namespace
}  // namespace spillway
