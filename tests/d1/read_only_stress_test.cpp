// SPDX-License-Identifier: MIT
//
// Goal: is_read_only never says so of a text that SQLite knows to write, however odd the text.
// Method: generate texts of one or several statements and mutate them; of those that SQLite can
// prepare to the end, compare with sqlite3_stmt_readonly of each statement. What EXPLAIN is put
// before only reads, though SQLite counts it as what it explains. Nothing is run.
// Parameters of the program: --texts=N --seed=N.
#include <spillway/retrying_database.h>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/random.h"
#include "d1/sql_text.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {
namespace {

std::uint64_t seed = 6;
// 100'000 take 6 s without optimization.
std::size_t texts = 50'000;

// Pieces of SQL, some of which are not what they look like.
class Generator {
 public:
  explicit Generator(std::uint64_t state) : state_(state) {}

  std::string text() {
    std::string all = statement();
    while (below(4) == 0) {
      all += blank() + ";" + blank() + statement();
    }
    return below(3) == 0 ? blank() + all + ";" + blank() : all;
  }

  // Some bytes or pieces more, less, doubled, or of another text.
  std::string mutated(std::string text, const std::string& other) {
    for (std::size_t times = 1 + below(2); times > 0; --times) {
      const std::size_t at = below(text.size() + 1);
      switch (below(6)) {
        case 0:
          text.erase(at, 1 + below(8));
          break;
        case 1:
          text.insert(at, 1,
                      pick({"'", "\"", "`", "[", "]", ";", "(", ")", "-", "/", "*", "\n", "\v", "x",
                            "$", ":", ".", "="})[0]);
          break;
        case 2:
          text.insert(at, " " + word() + " ");
          break;
        case 3:
          text.insert(at, blank());
          break;
        case 4:
          text.insert(at, text.substr(below(text.size() + 1), below(20)));
          break;
        default:
          text = text.substr(0, at) + other.substr(below(other.size() + 1));
      }
    }
    return text;
  }

  std::size_t below(std::size_t count) { return next_random(state_) % count; }

 private:
  using Choices = std::initializer_list<const char*>;

  std::string pick(Choices choices) { return *(choices.begin() + below(choices.size())); }

  std::string blank() {
    return pick({" ", " ", " ", "\n", "\t", "\r\n", " /* ; DELETE FROM t; */ ",
                 " -- ; INSERT INTO t\n", "/**/", " \v", " /* ' */ ", " -- \"\n"});
  }
  std::string word() {
    return pick({"SELECT", "WITH",      "VALUES", "INSERT",   "REPLACE",      "INTO",
                 "UPDATE", "DELETE",    "FROM",   "PRAGMA",   "EXPLAIN",      "QUERY",
                 "PLAN",   "CREATE",    "TEMP",   "TRIGGER",  "END",          "BEGIN",
                 "AS",     "RETURNING", "ATTACH", "optimize", "journal_mode", "t"});
  }
  std::string table() {
    return pick({"t", "u", "\"t\"", "[t]", "`u`", "main.t", "'t'", "T", "\"delete\"", "v"});
  }
  std::string column() { return pick({"a", "b", "\"a\"", "[b]", "t.a", "rowid", "\"x\""}); }
  std::string literal() {
    return pick({"1", "'a'", "'it''s; DELETE FROM t'", "x'00ff'", "NULL", "1.5e3", "?1", ":p", "?",
                 "\"a;b\"", "'--'", "'/*'", "0x1F", "$p::q(a;b)", "@p", "''", "'INSERT INTO t'"});
  }
  std::string expression(int depth = 0) {
    switch (depth > 2 ? below(2) : below(9)) {
      case 0:
        return literal();
      case 1:
        return column();
      case 2:
        return "(" + expression(depth + 1) + pick({"+", " || ", "->>", " IS NOT ", "/", "<", "-"}) +
               expression(depth + 1) + ")";
      case 3:
        return "replace(" + expression(depth + 1) + ",'a'," + expression(depth + 1) + ")";
      case 4:
        return "CASE WHEN " + expression(depth + 1) + " THEN 1" + blank() + "END";
      case 5:
        return "(" + select(depth + 1) + ")";
      case 6:
        return "EXISTS(" + query(depth + 1) + ")";
      case 7:
        return "coalesce(" + expression(depth + 1) + ", " + expression(depth + 1) + ")";
      default:
        return "a IN (SELECT b FROM u)";
    }
  }
  std::string source(int depth) {
    switch (below(5)) {
      case 0:
        return "(" + query(depth + 1) + ")";
      case 1:
        return pick({"pragma_table_info('t')", "json_each('[1]')", "pragma_journal_mode",
                     "pragma_user_version", "pragma_optimize"});
      default:
        return table();
    }
  }
  std::string select(int depth = 0) {
    std::string all = pick({"SELECT", "select", "SeLeCt"}) + blank() + expression(depth);
    if (below(3) != 0) {
      all += blank() + "FROM" + blank() + source(depth);
    }
    if (below(4) == 0) {
      all += " WHERE " + expression(depth);
    }
    return all;
  }
  std::string query(int depth = 0) {
    if (depth > 2) {
      return "SELECT 1";
    }
    switch (below(6)) {
      case 0:
        return pick({"VALUES(1)", "VALUES(1),(2)", "values ('INSERT')"});
      case 1:
        return with(depth) + select(depth);
      case 2:
        return select(depth) + pick({" UNION ", " EXCEPT ", " UNION ALL "}) + select(depth);
      default:
        return select(depth);
    }
  }
  std::string with(int depth) {
    return pick({"WITH ", "with recursive ", "WITH\n"}) +
           pick({"a", "replace", "\"insert\"", "x(y)", "plan", "[delete]"}) + blank() + "AS" +
           pick({" ", " MATERIALIZED ", " NOT MATERIALIZED ", ""}) + "(" + query(depth + 1) + ") ";
  }
  std::string write() {
    switch (below(6)) {
      case 0:
        return pick({"INSERT INTO ", "REPLACE INTO ", "INSERT OR REPLACE INTO ", "insert into "}) +
               "t(a)" + blank() + select() + pick({"", " RETURNING a", " ON CONFLICT DO NOTHING"});
      case 1:
        return "UPDATE t SET a = " + expression() + pick({"", " RETURNING *", " WHERE b"});
      case 2:
        return pick({"DELETE FROM t", "delete from u WHERE a", "DELETE FROM main.t"});
      case 3:
        return pick({"CREATE TABLE IF NOT EXISTS t(a)", "CREATE TABLE n AS SELECT 1",
                     "CREATE INDEX n ON t(a)", "DROP TABLE t", "ALTER TABLE t ADD n",
                     "CREATE VIEW n AS SELECT 1", "DROP VIEW v", "REINDEX", "ANALYZE", "VACUUM",
                     "CREATE TEMP TABLE n(a)", "ALTER TABLE t RENAME TO n"});
      case 4:
        return pick({"CREATE", "CREATE TEMP", "create temporary"}) + blank() +
               "TRIGGER n AFTER INSERT ON t BEGIN " + pick({"SELECT 1", "DELETE FROM u"}) + ";" +
               blank() + "UPDATE u SET a = CASE WHEN 1 THEN 2 END;" + blank() + "END";
      default:
        return with(0) + pick({"INSERT INTO t(a) SELECT 1", "DELETE FROM t", "UPDATE t SET a = 1",
                               "REPLACE INTO t(a) SELECT 2"});
    }
  }
  std::string pragma() {
    return pick({"PRAGMA ", "pragma ", "PRAGMA main.", "PRAGMA /* x */ "}) +
           pick({"user_version", "schema_version", "journal_mode", "optimize", "page_count",
                 "wal_checkpoint", "incremental_vacuum", "application_id", "foreign_key_check",
                 "table_info", "index_list", "integrity_check", "data_version", "\"user_version\"",
                 "auto_vacuum", "synchronous", "table_xinfo", "default_cache_size"}) +
           pick({"", "", "", "(t)", "('t')", "= 1", " = 'wal'", "(1)", " = memory"});
  }
  std::string statement() {
    switch (below(12)) {
      case 0:
      case 1:
        return write();
      case 2:
        return pragma();
      case 3:
        return pick({"EXPLAIN ", "EXPLAIN QUERY PLAN ", "explain\n"}) + (below(2) == 0   ? write()
                                                                         : below(4) == 0 ? pragma()
                                                                                         : query());
      case 4:
        return pick({"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "RELEASE a", "BEGIN IMMEDIATE",
                     "ATTACH ':memory:' AS m", "DETACH m", "END TRANSACTION"});
      default:
        return query();
    }
  }

  std::uint64_t state_;
};

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, Close>;

Handle open_memory() {
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &opened), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(opened,
                         "CREATE TABLE t(a, b); CREATE TABLE u(a, b); CREATE TABLE \"delete\"(a, "
                         "b); CREATE VIEW v AS SELECT * FROM t",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  return Handle(opened);
}

// What SQLite says of a text that it can prepare to the end.
struct Answer {
  bool does_read = true;
  std::vector<std::string_view> pieces;  // As SQLite cuts the text.
};

std::optional<Answer> answer_of_sqlite(sqlite3* database, const std::string& text) {
  Answer answer;
  for (const char* rest = text.c_str(); *rest != '\0';) {
    const char* const begin = rest;
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database, begin, -1, &prepared, &rest) != SQLITE_OK) {
      return std::nullopt;
    }
    const std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
    if (statement) {
      answer.pieces.emplace_back(begin, static_cast<std::size_t>(rest - begin));
      answer.does_read = answer.does_read && (sqlite3_stmt_readonly(prepared) != 0 ||
                                              sqlite3_stmt_isexplain(prepared) != 0);
    }
  }
  return answer.pieces.empty() ? std::nullopt : std::optional(answer);
}

struct Counts {
  std::size_t tried = 0;
  std::size_t prepared = 0;
  std::size_t mutants = 0;  // Of the prepared ones.
  std::size_t reading = 0;
  std::size_t refused = 0;                             // Of the reading ones.
  std::map<std::string, std::size_t> refused_by_verb;  // Of the statement that it is because of.
};

void print(const Counts& counts) {
  std::printf(
      "seed %llu: %zu texts prepared of %zu, %zu of them mutants; SQLite says that %zu read, of "
      "which %zu were refused because of:",
      static_cast<unsigned long long>(seed), counts.prepared, counts.tried, counts.mutants,
      counts.reading, counts.refused);
  for (const auto& [verb, count] : counts.refused_by_verb) {
    std::printf(" %s %zu", verb.c_str(), count);
  }
  std::printf("\n");
}

std::string verb_of_refused(const std::vector<std::string_view>& pieces) {
  for (const std::string_view piece : pieces) {
    if (!is_read_only(piece)) {
      const Result<SqlStatement> statement = parse_statement(piece);
      return statement ? statement->verb : "(no statement)";
    }
  }
  return "(none)";
}

void judge(const std::string& text, bool is_mutant, sqlite3* database, Counts& counts) {
  ++counts.tried;
  const std::optional<Answer> answer = answer_of_sqlite(database, text);
  if (!answer) {
    return;
  }
  ++counts.prepared;
  counts.mutants += is_mutant ? 1U : 0U;
  counts.reading += answer->does_read ? 1U : 0U;
  const bool is_certain = is_read_only(text);
  ASSERT_TRUE(answer->does_read || !is_certain) << text;
  if (answer->does_read && !is_certain) {
    ++counts.refused;
    ++counts.refused_by_verb[verb_of_refused(answer->pieces)];
  }
}

TEST(IsReadOnly, IsNeverSaidOfWhatSqliteKnowsToWrite) {
  const Handle database = open_memory();
  Generator generator(seed);
  Counts counts;
  std::string before = "SELECT 1";
  while (counts.prepared < texts && !HasFatalFailure()) {
    const std::string text = generator.text();
    judge(text, false, database.get(), counts);
    judge(generator.mutated(text, before), true, database.get(), counts);
    before = text;
  }
  print(counts);
  EXPECT_GT(counts.mutants, texts / 10);  // Else the generator has lost its point.
  EXPECT_GT(counts.reading - counts.refused, texts / 5);
  EXPECT_GT(counts.prepared - counts.reading, texts / 5);
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--texts=")) {
      spillway::texts = std::strtoull(argv[i] + 8, nullptr, 10);
    } else if (argument.starts_with("--seed=")) {
      spillway::seed = std::strtoull(argv[i] + 7, nullptr, 10);
    }
  }
  return RUN_ALL_TESTS();
}
