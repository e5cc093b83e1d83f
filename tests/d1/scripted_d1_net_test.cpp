// SPDX-License-Identifier: MIT
//
// Goal: the scripted D1 says what D1 says, and fails as it is told, so that tests may rely on it.
// Method: a plain HTTP client; the expected answers are those of Cloudflare's own engine.
#include <httplib.h>

#include <gmock/gmock.h>

#include "tests/support/scripted_d1.h"
#include "tests/support/temp_dir.h"

#include <array>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace spillway::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A body with one statement; `params` is what stands between the brackets.
std::string query(const std::string& sql, const std::string& params = "") {
  return "{\"sql\":\"" + sql + "\",\"params\":[" + params + "]}";
}

std::string batch(const std::vector<std::string>& queries) {
  std::string json = "{\"batch\":[";
  for (const std::string& one : queries) {
    json += (json.back() == '[' ? "" : ",") + one;
  }
  return json + "]}";
}

std::string path_of(const ScriptedD1& d1, const std::string& route) {
  return "/client/v4/accounts/acc/d1/database/" + d1.options().database_id + route;
}

class ScriptedD1Test : public ::testing::Test {
 protected:
  ScriptedD1Test() {
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    client.set_bearer_token_auth(d1.options().token);
  }

  [[nodiscard]] std::string path(const std::string& route) const { return path_of(d1, route); }
  httplib::Result post(const std::string& json, const std::string& route = "/raw") {
    return client.Post(path(route), json, "application/json");
  }
  std::string body(const std::string& json, const std::string& route = "/raw") {
    const httplib::Result result = post(json, route);
    return result ? result->body : "lost: " + to_string(result.error());
  }
  // The rows of the only statement.
  std::string rows(const std::string& json) {
    const std::string text = body(json);
    const std::size_t begin = text.find("\"rows\":");
    return begin == std::string::npos
               ? text
               : text.substr(begin + 7, text.find("},\"meta\"", begin) - begin - 7);
  }
  std::string message(const std::string& json) {
    const std::string text = body(json);
    const std::size_t begin = text.find("\"message\":");
    return begin == std::string::npos
               ? text
               : text.substr(begin + 11, text.find("\"}],\"messages\"", begin) - begin - 11);
  }
  // One connection, which the client gives up after this test.
  bool is_lost(const std::string& json) { return !post(json); }

  ScriptedD1 d1;
  httplib::Client client{"127.0.0.1", d1.port()};
};

TEST_F(ScriptedD1Test, AnswersRawAndQueryInTheShapesOfD1) {
  EXPECT_EQ(body(query("SELECT 1 AS a, 'x' AS a")),
            R"({"result":[{"success":true,"results":{"columns":["a","a"],"rows":[[1,"x"]]},)"
            R"("meta":{"served_by":"scripted","duration":0,"changes":0,"last_row_id":0,)"
            R"("changed_db":false,"size_after":4096,"rows_read":0,"rows_written":0}}],)"
            R"("success":true,"errors":[],"messages":[]})");
  EXPECT_THAT(body(query("SELECT 1 AS a, 'x' AS a"), "/query"),
              HasSubstr(R"("results":[{"a":"x"}])"));
  EXPECT_THAT(body(query("SELECT 1 AS a WHERE 0")), HasSubstr(R"({"columns":["a"],"rows":[]})"));
}

TEST_F(ScriptedD1Test, BindsEveryNumberAsReal) {
  EXPECT_EQ(rows(query("SELECT typeof(?), typeof(?), typeof(?), typeof(?)", R"(1,true,"1",null)")),
            R"([["real","real","text","null"]])");
  EXPECT_EQ(rows(query("SELECT typeof(?1), hex(?1)", "[0,1,255]")), R"([["blob","0001FF"]])");
  EXPECT_EQ(rows(query("SELECT ?", "9007199254740993")), "[[9007199254740992]]");
  EXPECT_EQ(message(query("SELECT ?", "[256]")),
            "D1_TYPE_ERROR: Type 'object' not supported for value '256'");
}

TEST_F(ScriptedD1Test, PrintsNumbersAsJavaScriptDoes) {
  EXPECT_EQ(rows(query("SELECT 3.0, -0.0, 0.1 + 0.2, 1e20, 1e21, 1e-7, 0.000001, 5e-324")),
            "[[3,0,0.30000000000000004,100000000000000000000,1e+21,1e-7,0.000001,5e-324]]");
  EXPECT_EQ(rows(query("SELECT 9223372036854775807, -1.5, 1234.5, 1e400, 1.5e300")),
            "[[9223372036854776000,-1.5,1234.5,null,1.5e+300]]");
}

TEST_F(ScriptedD1Test, GivesBlobsAsBytesAndBadTextAsReplacementCharacters) {
  EXPECT_EQ(rows(query("SELECT unhex('00fF'), unhex('0'), x''")), "[[[0,255],null,[]]]");
  EXPECT_EQ(rows(query("SELECT CAST(x'61ff' AS TEXT), 'a' || char(0) || 'b'")),
            "[[\"a\xEF\xBF\xBD\",\"a\\u0000b\"]]");
  EXPECT_EQ(rows(query("SELECT hex(?)", "\"a\xFF\"")), R"([["61EFBFBD"]])");
}

TEST_F(ScriptedD1Test, RefusesWithTheTextsOfD1) {
  const std::pair<const char*, const char*> cases[] = {
      {"SELEC 1", R"(near \"SELEC\": syntax error at offset 0: SQLITE_ERROR)"},
      {"SELECT * FROM missing", "no such table: missing: SQLITE_ERROR"},
      {"SELECT missing", "no such column: missing at offset 7: SQLITE_ERROR"},
      {"SELECT ?", "Wrong number of parameter bindings for SQL query."},
      {"SELECT ?101", "variable number must be between ?1 and ?100 at offset 7: SQLITE_ERROR"},
      {"", "No SQL statements detected."},
      {"-- nothing", "SQL code did not contain a statement."},
      {"SELECT 1; -- x", "SQL code did not contain a statement."},
      {"VACUUM", "cannot VACUUM from within a transaction: SQLITE_ERROR"},
      {"PRAGMA user_version", "not authorized: SQLITE_AUTH"},
      {"CREATE TEMP TABLE t(a)", "not authorized: SQLITE_AUTH"},
      {"SELECT sqlite_version()",
       "not authorized to use function: sqlite_version at offset 7: SQLITE_ERROR"},
      {"SELECT abs(-9223372036854775808)", "integer overflow: SQLITE_ERROR"},
  };
  for (const auto& [sql, text] : cases) {
    EXPECT_EQ(message(query(sql)), text) << sql;
  }
  EXPECT_THAT(message(query("BEGIN")), StartsWith("To execute a transaction, please use"));
  EXPECT_THAT(message(query("COMMIT")), StartsWith("To execute a transaction, please use"));
  EXPECT_EQ(message(R"({"batch":[]})"), "No SQL statements detected.");
  EXPECT_EQ(message(R"({"sql":)"), "The request is malformed: not JSON");
  EXPECT_EQ(post(query("SELEC"))->status, 400);
}

TEST_F(ScriptedD1Test, NamesTheConstraintThatFailed) {
  ASSERT_TRUE(post(query("CREATE TABLE t(a PRIMARY KEY, b NOT NULL, c CHECK(c > 0))")));
  ASSERT_THAT(body(query("INSERT INTO t VALUES(1, 1, 1)")), HasSubstr("\"changes\":1"));
  EXPECT_EQ(message(query("INSERT INTO t VALUES(1, 1, 1)")),
            "UNIQUE constraint failed: t.a: SQLITE_CONSTRAINT "
            "(extended: SQLITE_CONSTRAINT_PRIMARYKEY)");
  EXPECT_EQ(message(query("INSERT INTO t VALUES(2, NULL, 1)")),
            "NOT NULL constraint failed: t.b: SQLITE_CONSTRAINT "
            "(extended: SQLITE_CONSTRAINT_NOTNULL)");
  EXPECT_EQ(message(query("INSERT INTO t VALUES(2, 1, 0)")),
            "CHECK constraint failed: c > 0: SQLITE_CONSTRAINT "
            "(extended: SQLITE_CONSTRAINT_CHECK)");
}

std::string list_of(std::size_t count, const std::string& item) {
  std::string list = item;
  for (std::size_t i = 1; i < count; ++i) {
    list += "," + item;
  }
  return list;
}

TEST_F(ScriptedD1Test, KeepsTheLimitsOfD1) {
  const auto with_parameters = [&](std::size_t count) {
    return message(query("SELECT " + list_of(count, "?"), list_of(count, "0")));
  };
  EXPECT_THAT(with_parameters(100), HasSubstr("\"success\":true"));
  EXPECT_EQ(with_parameters(101), "too many SQL variables at offset 207: SQLITE_ERROR");
  const auto with_text = [&](std::size_t bytes) {
    return message(query("SELECT 1" + std::string(bytes - 10, ' ') + "+1"));
  };
  EXPECT_THAT(with_text(100'000), HasSubstr("\"success\":true"));
  EXPECT_EQ(with_text(100'001), "statement too long: SQLITE_TOOBIG");
  const auto with_value = [&](std::size_t bytes) {
    return message(query("SELECT length(?)", '"' + std::string(bytes, 'x') + '"'));
  };
  EXPECT_THAT(with_value(2'000'000), HasSubstr("[[2000000]]"));
  EXPECT_EQ(with_value(2'000'001), "string or blob too big: SQLITE_TOOBIG");
  EXPECT_EQ(message(query("SELECT " + list_of(101, "1"))),
            "too many columns in result set: SQLITE_ERROR");
}

TEST_F(ScriptedD1Test, RunsABatchAsOneTransaction) {
  ASSERT_TRUE(post(query("CREATE TABLE t(a)")));
  EXPECT_EQ(message(batch({query("INSERT INTO t VALUES(?)", "1"), query("INSERT INTO t VALUES(2)"),
                           query("INSERT INTO missing VALUES(3)")})),
            "no such table: missing: SQLITE_ERROR");
  EXPECT_EQ(d1.value("SELECT count(*) FROM t"), "0");
  EXPECT_THAT(body(batch({query("INSERT INTO t VALUES(1), (2)"), query("SELECT 7")})),
              HasSubstr(R"("rows":[[7]])"));
  EXPECT_EQ(d1.value("SELECT count(*) FROM t"), "2");
  EXPECT_EQ(d1.counts().rows_written, 2);
}

TEST_F(ScriptedD1Test, RunsSeveralStatementsOfOneTextInOneTransaction) {
  EXPECT_THAT(body(query("CREATE TABLE t(a);; INSERT INTO t VALUES(1); SELECT a FROM t;")),
              HasSubstr(R"("rows":[[1]])"));
  EXPECT_EQ(message(query("INSERT INTO t VALUES(2); SELEC")),
            R"(near \"SELEC\": syntax error at offset 0: SQLITE_ERROR)");
  EXPECT_EQ(d1.value("SELECT count(*) FROM t"), "1");
  EXPECT_EQ(rows(query("SELECT 1; SELECT ?", "\"x\"")), R"([["x"]])");
  EXPECT_THAT(message(query("SELECT ?; SELECT 1", "\"x\"")),
              HasSubstr("only the last statement can have parameters"));
}

TEST_F(ScriptedD1Test, LetsNobodyInWithoutTheToken) {
  client.set_bearer_token_auth("another");
  const httplib::Result refused = post(query("SELECT 1"));
  EXPECT_EQ(refused->status, 401);
  EXPECT_THAT(refused->body, HasSubstr(R"({"code":10000,"message":"Authentication error"})"));
}

TEST_F(ScriptedD1Test, KnowsItsRoutes) {
  const auto get = [&](const std::string& where) { return client.Get(where); };
  EXPECT_THAT(get(path(""))->body, HasSubstr(d1.options().database_id));
  EXPECT_THAT(get("/client/v4/accounts/acc/d1/database")->body, HasSubstr("\"result\":[{\"uuid\""));
  EXPECT_EQ(get("/client/v4/accounts/other/d1/database")->status, 403);
  EXPECT_EQ(get("/client/v4/accounts/acc/d1/database/unknown")->status, 404);
  EXPECT_THAT(get("/nowhere")->body, HasSubstr("\"code\":7003"));
  EXPECT_TRUE(d1.requests().empty());
}

TEST_F(ScriptedD1Test, RecordsWhatItReceives) {
  const std::string insert = query("INSERT INTO t VALUES(?)", "\"x\"");
  ASSERT_TRUE(post(insert));
  ASSERT_TRUE(post(batch({query("SELECT 1"), query(" values(2)")}), "/query"));
  EXPECT_TRUE(d1.wait_for_requests(2));
  const std::vector<D1Request> requests = d1.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].path, path("/raw"));
  EXPECT_EQ(requests[0].header("content-type"), "application/json");
  EXPECT_EQ(requests[0].body, insert);
  EXPECT_EQ(requests[0].statements.at(0).params, Row{"x"});
  EXPECT_FALSE(requests[0].is_read_only());
  EXPECT_EQ(requests[1].statements.size(), 2U);
  EXPECT_TRUE(requests[1].is_read_only());
  EXPECT_EQ(requests[0].connection, requests[1].connection);
  EXPECT_LE(requests[0].arrived, requests[1].arrived);
}

// Faults.

class ScriptedD1FaultTest : public ScriptedD1Test {
 protected:
  ScriptedD1FaultTest() {
    EXPECT_THAT(body(query("CREATE TABLE t(a)")), HasSubstr("\"success\":true"));
  }

  // In the background: it may take until the test lets it go.
  std::future<bool> insert_later() {
    return std::async(std::launch::async, [this] { return static_cast<bool>(post(insert)); });
  }
  std::string stored() { return d1.value("SELECT count(*) FROM t"); }

  const std::string insert = query("INSERT INTO t VALUES(1)");
};

TEST_F(ScriptedD1FaultTest, TakesFaultsInOrderAndThenTheRule) {
  d1.add({D1Fault::overloaded(), D1Fault::pass()});
  d1.set_rule(refuse_writes(D1Fault::error(400, 7500, "Exceeded maximum DB size.")));
  EXPECT_EQ(message(insert), "D1 DB is overloaded. Too many requests queued.");
  EXPECT_THAT(body(insert), HasSubstr("\"changes\":1"));
  EXPECT_EQ(message(insert), "Exceeded maximum DB size.");
  EXPECT_EQ(rows(query("SELECT count(*) FROM t")), "[[1]]");
  d1.set_rule({});
  EXPECT_THAT(body(insert), HasSubstr("\"changes\":1"));
}

TEST_F(ScriptedD1FaultTest, LeavesOtherRequestsAlone) {
  d1.only_for("INSERT");
  d1.add({D1Fault::overloaded()});
  EXPECT_EQ(rows(query("SELECT 1")), "[[1]]");
  EXPECT_EQ(post(insert)->status, 429);
}

TEST_F(ScriptedD1FaultTest, AnswersWithHeadersOfTheScript) {
  d1.add({D1Fault::rate_limited("300"), D1Fault::redirect(307, "http://127.0.0.1:9/")});
  EXPECT_EQ(post(insert)->get_header_value("Retry-After"), "300");
  const httplib::Result redirected = post(insert);
  EXPECT_EQ(redirected->status, 307);
  EXPECT_EQ(redirected->get_header_value("Location"), "http://127.0.0.1:9/");
  EXPECT_EQ(stored(), "0");
}

TEST_F(ScriptedD1FaultTest, RunsTheStatementsAndSaysSomethingElse) {
  d1.add({D1Fault::masked(html_reply(504)), D1Fault::answer({200, ""})});
  const httplib::Result html = post(insert);
  EXPECT_EQ(html->status, 504);
  EXPECT_THAT(html->body, StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(stored(), "1");
  EXPECT_EQ(post(insert)->body, "");
  EXPECT_EQ(stored(), "1");
}

TEST_F(ScriptedD1FaultTest, ClosesTheConnectionBeforeAndAfterTheCommit) {
  for (const auto leave : {D1Fault::Leave::kClose, D1Fault::Leave::kReset}) {
    d1.add({D1Fault::lost_before(leave)});
    EXPECT_TRUE(is_lost(insert));
  }
  EXPECT_EQ(stored(), "0");
  for (const auto leave : {D1Fault::Leave::kClose, D1Fault::Leave::kReset}) {
    d1.add({D1Fault::lost_after(leave)});
    EXPECT_TRUE(is_lost(insert));
  }
  EXPECT_EQ(stored(), "2");
}

TEST_F(ScriptedD1FaultTest, CutsTheBodyShort) {
  d1.add({D1Fault::cut(20)});
  std::string received;
  const httplib::Result result = client.Get("/", [](const char*, std::size_t) { return true; });
  static_cast<void>(result);
  httplib::Request request;
  request.method = "POST";
  request.path = path("/raw");
  request.body = insert;
  request.content_receiver = [&](const char* bytes, std::size_t size, std::uint64_t,
                                 std::uint64_t) {
    received.append(bytes, size);
    return true;
  };
  EXPECT_FALSE(client.send(request));
  EXPECT_EQ(received, R"({"result":[{"success)");
  EXPECT_EQ(stored(), "1");
}

TEST_F(ScriptedD1FaultTest, SendsABodyByteByByte) {
  d1.add({D1Fault::slow(milliseconds(0))});
  EXPECT_THAT(body(insert), EndsWith(R"("success":true,"errors":[],"messages":[]})"));
}

TEST_F(ScriptedD1FaultTest, SendsABodyWithoutEnd) {
  d1.add({D1Fault::endless(milliseconds(0))});
  std::size_t bytes = 0;
  httplib::Request request;
  request.method = "POST";
  request.path = path("/raw");
  request.body = insert;
  request.content_receiver = [&](const char*, std::size_t size, std::uint64_t, std::uint64_t) {
    bytes += size;
    return bytes < 1000;
  };
  EXPECT_FALSE(client.send(request));
  EXPECT_GE(bytes, 1000U);
}

TEST_F(ScriptedD1FaultTest, HoldsARequestBeforeAndAfterTheCommit) {
  using Hold = D1Fault::Hold;
  for (const auto& [where, rows_meanwhile] :
       {std::pair(Hold::kBeforeRun, "0"), std::pair(Hold::kAfterRun, "2")}) {
    d1.add({D1Fault::pass().held(where)});
    const std::size_t before = d1.counts().requests;
    std::future<bool> answered = insert_later();
    ASSERT_TRUE(d1.wait_for_requests(before + 1));
    while (where == Hold::kAfterRun && stored() != rows_meanwhile) {
      std::this_thread::yield();
    }
    EXPECT_EQ(stored(), rows_meanwhile);
    d1.release();
    EXPECT_TRUE(answered.get());
  }
}

TEST_F(ScriptedD1FaultTest, DelaysARequest) {
  d1.add({D1Fault::pass().delayed(D1Fault::Hold::kBeforeRun, milliseconds(1))});
  EXPECT_THAT(body(insert), HasSubstr("\"changes\":1"));
}

TEST_F(ScriptedD1FaultTest, HangsUntilReleasedAndAnswersNothing) {
  d1.add({D1Fault::hang(D1Fault::Run::kNow)});
  std::future<bool> answered = insert_later();
  ASSERT_TRUE(d1.wait_for_requests(2));
  d1.release();
  EXPECT_FALSE(answered.get());
  EXPECT_EQ(stored(), "1");
}

TEST_F(ScriptedD1FaultTest, RunsLateWhatItHasRefused) {
  d1.add({D1Fault::late(html_reply(504))});
  EXPECT_EQ(post(insert)->status, 504);
  EXPECT_EQ(stored(), "0");
  EXPECT_EQ(d1.run_late(), 1U);
  EXPECT_EQ(stored(), "1");
  EXPECT_EQ(d1.run_late(), 0U);
}

TEST_F(ScriptedD1FaultTest, LeavesHalfABatchBehindIfToldSo) {
  const std::string three =
      batch({query("INSERT INTO t VALUES(1)"), query("SELEC"), query("INSERT INTO t VALUES(3)")});
  d1.add({D1Fault::not_atomic()});
  EXPECT_THAT(message(three), HasSubstr("syntax error"));
  EXPECT_EQ(stored(), "1");
  d1.add({D1Fault::lost_after().only_first(1)});
  EXPECT_TRUE(is_lost(three));
  EXPECT_EQ(stored(), "2");
}

TEST_F(ScriptedD1FaultTest, TellsTheHeadersToWhoeverIsRefused) {
  d1.add({D1Fault::echo()});
  const httplib::Result refused = post(insert);
  EXPECT_EQ(refused->status, 401);
  EXPECT_THAT(refused->body, HasSubstr("Authorization: Bearer " + d1.options().token));
}

TEST_F(ScriptedD1FaultTest, ClosesIdleConnections) {
  const int before = d1.requests().back().connection;
  d1.close_idle_connections();
  EXPECT_THAT(body(insert), HasSubstr("\"changes\":1"));  // The client opens a new one.
  EXPECT_NE(d1.requests().back().connection, before);
  EXPECT_EQ(d1.counts().connections, 2U);
}

TEST_F(ScriptedD1FaultTest, ForgetsOpenConnections) {
  d1.ignore_open_connections();
  client.set_read_timeout(0, 20'000);
  EXPECT_TRUE(is_lost(insert));
  EXPECT_EQ(stored(), "0");
  EXPECT_EQ(d1.counts().requests, 1U);
  client.set_read_timeout(20, 0);
  EXPECT_THAT(body(insert), HasSubstr("\"changes\":1"));
}

TEST_F(ScriptedD1FaultTest, DealsFaultsBySeed) {
  const auto names = [](std::uint64_t seed) {
    const D1Rule rule = by_chance(seed, {{0.3, D1Fault::lost_after()}, {0.2, D1Fault::cut(1)}});
    std::map<std::string, int> counts;
    for (int i = 0; i < 1000; ++i) {
      ++counts[rule(D1Request()).name];
    }
    return counts;
  };
  const std::map<std::string, int> counts = names(1);
  EXPECT_EQ(counts, names(1));
  EXPECT_NE(counts, names(2));
  EXPECT_NEAR(counts.at("lost_after"), 300, 60);
  EXPECT_NEAR(counts.at("cut"), 200, 60);
}

TEST_F(ScriptedD1FaultTest, KeepsItsRowsInAFile) {
  const TempDir directory;
  const std::string file = directory.path("d1.db");
  { static_cast<void>(ScriptedD1({.file = file}).value("CREATE TABLE kept AS SELECT 5 AS a")); }
  EXPECT_EQ(ScriptedD1({.file = file}).value("SELECT a FROM kept"), "5");
}

// Nothing in here waits: were it not so, the test would end at its timeout only.
TEST(ScriptedD1, EndsAtOnceWhileRequestsHang) {
  const std::array<D1Fault, 4> faults = {
      D1Fault::hang(D1Fault::Run::kNever), D1Fault::pass().held(D1Fault::Hold::kBeforeRun),
      D1Fault::slow(std::chrono::hours(1)), D1Fault::endless(std::chrono::hours(1))};
  auto d1 = std::make_unique<ScriptedD1>();
  const std::string token = d1->options().token;
  const std::string path = path_of(*d1, "/raw");
  std::vector<std::future<bool>> answered;
  for (const D1Fault& fault : faults) {
    d1->add({fault});
    // What the server is asked for is asked for here: it ends while they are under way.
    answered.push_back(std::async(std::launch::async, [path, port = d1->port(), token] {
      httplib::Client client("127.0.0.1", port);
      client.set_bearer_token_auth(token);
      return static_cast<bool>(client.Post(path, query("SELECT 1"), "application/json"));
    }));
  }
  ASSERT_TRUE(d1->wait_for_requests(faults.size()));
  d1.reset();
  for (std::future<bool>& answer : answered) {
    static_cast<void>(answer.get());
  }
}

}  // namespace
}  // namespace spillway::testing
