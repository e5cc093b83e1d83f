// SPDX-License-Identifier: MIT
#include "d1/sqlite_status.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cerrno>
#include <string>

namespace spillway {
namespace {

struct Case {
  int code;
  std::string message;
  StatusCode expected;
  Execution execution;
  int system_errno = 0;
};

const Case kCases[] = {
    {SQLITE_BUSY, "database is locked", StatusCode::kOverload, Execution::kNo},
    {SQLITE_BUSY_SNAPSHOT, "database is locked", StatusCode::kOverload, Execution::kNo},
    {SQLITE_BUSY_RECOVERY, "database is locked", StatusCode::kOverload, Execution::kNo},
    {SQLITE_LOCKED, "database table is locked", StatusCode::kOverload, Execution::kNo},
    {SQLITE_PROTOCOL, "locking protocol", StatusCode::kOverload, Execution::kNo},
    {SQLITE_INTERRUPT, "interrupted", StatusCode::kTransient, Execution::kNo},
    {SQLITE_NOMEM, "out of memory", StatusCode::kTransient, Execution::kNo},
    {SQLITE_READONLY_DBMOVED, "attempt to write a readonly database", StatusCode::kTransient,
     Execution::kNo},
    {SQLITE_IOERR, "disk I/O error", StatusCode::kLost, Execution::kMaybe},
    {SQLITE_IOERR_WRITE, "disk I/O error", StatusCode::kLost, Execution::kMaybe, EIO},
    {SQLITE_IOERR_FSYNC, "disk I/O error", StatusCode::kLost, Execution::kMaybe},
    {SQLITE_IOERR_WRITE, "disk I/O error", StatusCode::kStorageFull, Execution::kNo, EDQUOT},
    {SQLITE_IOERR_WRITE, "disk I/O error", StatusCode::kStorageFull, Execution::kNo, EFBIG},
    {SQLITE_TOOBIG, "string or blob too big", StatusCode::kTooBig, Execution::kNo},
    {SQLITE_ERROR, "too many SQL variables", StatusCode::kTooBig, Execution::kNo},
    {SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: t.a", StatusCode::kConstraint,
     Execution::kNo},
    {SQLITE_CONSTRAINT_NOTNULL, "NOT NULL constraint failed: t.a", StatusCode::kConstraint,
     Execution::kNo},
    {SQLITE_MISMATCH, "datatype mismatch", StatusCode::kConstraint, Execution::kNo},
    {SQLITE_ERROR, "no such table: logs", StatusCode::kSchema, Execution::kNo},
    {SQLITE_ERROR, "no such column: seq", StatusCode::kSchema, Execution::kNo},
    {SQLITE_ERROR, "table logs has no column named seq", StatusCode::kSchema, Execution::kNo},
    {SQLITE_ERROR, "near \"SELEC\": syntax error", StatusCode::kPermanent, Execution::kNo},
    {SQLITE_FULL, "database or disk is full", StatusCode::kStorageFull, Execution::kNo},
    {SQLITE_CANTOPEN, "unable to open database file", StatusCode::kConfig, Execution::kNo},
    {SQLITE_READONLY, "attempt to write a readonly database", StatusCode::kConfig, Execution::kNo},
    {SQLITE_READONLY_DIRECTORY, "attempt to write a readonly database", StatusCode::kConfig,
     Execution::kNo},
    {SQLITE_PERM, "access permission denied", StatusCode::kConfig, Execution::kNo},
    {SQLITE_NOTADB, "file is not a database", StatusCode::kPermanent, Execution::kNo},
    {SQLITE_CORRUPT, "database disk image is malformed", StatusCode::kPermanent, Execution::kNo},
    {SQLITE_MISUSE, "bad parameter or other API misuse", StatusCode::kPermanent, Execution::kNo},
};

TEST(SqliteStatus, GivesEachCodeItsClassAndExecution) {
  for (const Case& each : kCases) {
    const Status status = sqlite_status(each.code, each.message, each.system_errno);
    EXPECT_EQ(status.code(), each.expected) << each.code << ' ' << each.message;
    EXPECT_EQ(status.execution(), each.execution) << each.code << ' ' << each.message;
    EXPECT_EQ(status.sqlite_code(), each.code) << each.message;
  }
}

TEST(SqliteStatus, KeepsTheTextAndAddsTheReasonOfTheSystem) {
  EXPECT_EQ(sqlite_status(SQLITE_BUSY, "database is locked").message(), "database is locked");
  EXPECT_EQ(sqlite_status(SQLITE_IOERR_READ, "disk I/O error", EIO).message(),
            "disk I/O error (Input/output error)");
  EXPECT_EQ(sqlite_status(SQLITE_CANTOPEN_ISDIR, "unable to open", EACCES).message(),
            "unable to open (Permission denied)");
}

TEST(SqliteStatus, DoesNotBlameAnErrnoThatIsLeftOverForAnotherFailure) {
  const Status status = sqlite_status(SQLITE_CONSTRAINT, "CHECK constraint failed: t", EIO);
  EXPECT_EQ(status.message(), "CHECK constraint failed: t");
}

TEST(SqliteStatus, KnowsTheCodesByTheirNames) {
  const struct {
    const char* name;
    int code;
  } cases[] = {
      {"SQLITE_ERROR", SQLITE_ERROR},
      {"SQLITE_INTERNAL", SQLITE_INTERNAL},
      {"SQLITE_PERM", SQLITE_PERM},
      {"SQLITE_ABORT", SQLITE_ABORT},
      {"SQLITE_BUSY", SQLITE_BUSY},
      {"SQLITE_LOCKED", SQLITE_LOCKED},
      {"SQLITE_NOMEM", SQLITE_NOMEM},
      {"SQLITE_READONLY", SQLITE_READONLY},
      {"SQLITE_INTERRUPT", SQLITE_INTERRUPT},
      {"SQLITE_IOERR", SQLITE_IOERR},
      {"SQLITE_CORRUPT", SQLITE_CORRUPT},
      {"SQLITE_NOTFOUND", SQLITE_NOTFOUND},
      {"SQLITE_FULL", SQLITE_FULL},
      {"SQLITE_CANTOPEN", SQLITE_CANTOPEN},
      {"SQLITE_PROTOCOL", SQLITE_PROTOCOL},
      {"SQLITE_SCHEMA", SQLITE_SCHEMA},
      {"SQLITE_TOOBIG", SQLITE_TOOBIG},
      {"SQLITE_CONSTRAINT", SQLITE_CONSTRAINT},
      {"SQLITE_MISMATCH", SQLITE_MISMATCH},
      {"SQLITE_MISUSE", SQLITE_MISUSE},
      {"SQLITE_AUTH", SQLITE_AUTH},
      {"SQLITE_RANGE", SQLITE_RANGE},
      {"SQLITE_NOTADB", SQLITE_NOTADB},
      {"SQLITE_CONSTRAINT_CHECK", SQLITE_CONSTRAINT_CHECK},
      {"SQLITE_CONSTRAINT_FOREIGNKEY", SQLITE_CONSTRAINT_FOREIGNKEY},
      {"SQLITE_CONSTRAINT_NOTNULL", SQLITE_CONSTRAINT_NOTNULL},
      {"SQLITE_CONSTRAINT_PRIMARYKEY", SQLITE_CONSTRAINT_PRIMARYKEY},
      {"SQLITE_CONSTRAINT_TRIGGER", SQLITE_CONSTRAINT_TRIGGER},
      {"SQLITE_CONSTRAINT_UNIQUE", SQLITE_CONSTRAINT_UNIQUE},
      {"SQLITE_CONSTRAINT_ROWID", SQLITE_CONSTRAINT_ROWID},
      {"SQLITE_CONSTRAINT_DATATYPE", SQLITE_CONSTRAINT_DATATYPE},
      {"SQLITE_BUSY_SNAPSHOT", SQLITE_BUSY},
      {"SQLITE_IOERR_SHORT_READ", SQLITE_IOERR},
      {"SQLITF_BUSY", 0},
      {"SQLITE_", 0},
      {"SQLITE", 0},
      {"BUSY", 0},
      {"SQLITE_busy", 0},
      {"SQLITE_OVERLOADED", 0},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(sqlite_code_named(each.name), each.code) << each.name;
  }
}

TEST(SqliteStatus, TakesTheTextsOfAMissingTableOrColumnOnlyAsTheyBegin) {
  for (const char* text : {"what? no such table: logs", "what? no such column: seq",
                           "what? table logs has no column named seq", "table logs has no column",
                           "table has no column named ", "too many SQL variables?"}) {
    EXPECT_EQ(class_of_sqlite(SQLITE_ERROR, text), StatusCode::kPermanent) << text;
  }
}

TEST(SqliteStatus, KnowsAFileThatIsNoDatabase) {
  EXPECT_TRUE(is_not_a_database(sqlite_status(SQLITE_NOTADB, "file is not a database")));
  EXPECT_FALSE(is_not_a_database(sqlite_status(SQLITE_CORRUPT, "malformed")));
  EXPECT_FALSE(is_not_a_database(Status()));
}

}  // namespace
}  // namespace spillway
