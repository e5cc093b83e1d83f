// SPDX-License-Identifier: MIT
//
// Goal: the real engine is there for tests, speaks as gateway/README.md says, and leaves nothing
// behind, however its user ends.
// Method: ask it over HTTP; end copies of this program in several ways and look at the processes
// that they had started and at their temporary folder.
#include "tests/support/real_d1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace spillway::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct Answer {
  int status = 0;
  json body;
};

class RealD1Process : public ::testing::Test {
 protected:
  void SetUp() override {
    d1 = RealD1::of_this_program();
    if (d1 == nullptr) {
      GTEST_SKIP() << RealD1::absence();
    }
    database = d1->take_database();
  }

  [[nodiscard]] std::string path(const std::string& rest) const {
    return "/client/v4/accounts/" + d1->account_id() + "/d1/database" + rest;
  }

  [[nodiscard]] Answer post(const std::string& format, const json& body,
                            const std::string& authorization) const {
    httplib::Client client(origin());
    return answer_of(client.Post(path("/" + database + "/" + format),
                                 {{"Authorization", authorization}}, body.dump(),
                                 "application/json"));
  }
  [[nodiscard]] Answer post(const std::string& format, const json& body) const {
    return post(format, body, "Bearer " + d1->token());
  }

  [[nodiscard]] Answer get(const std::string& rest) const {
    httplib::Client client(origin());
    return answer_of(client.Get(path(rest), {{"Authorization", "Bearer " + d1->token()}}));
  }

  RealD1* d1 = nullptr;
  std::string database;

 private:
  [[nodiscard]] std::string origin() const {
    return d1->base_url().substr(0, d1->base_url().find("/client"));
  }

  static Answer answer_of(const httplib::Result& result) {
    if (!result) {
      ADD_FAILURE() << "no answer: " << httplib::to_string(result.error());
      return {};
    }
    return {result->status, json::parse(result->body, nullptr, false)};
  }
};

json rows_of(const Answer& answer, std::size_t statement = 0) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.status == 200 ? answer.body["result"][statement]["results"]["rows"] : json();
}

int code_of(const Answer& answer) {
  EXPECT_EQ(answer.body.value("success", true), false) << answer.body;
  return answer.body["errors"].size() == 1 ? answer.body["errors"][0].value("code", 0) : 0;
}

TEST_F(RealD1Process, AnswersAQuery) {
  EXPECT_EQ(rows_of(post("raw", {{"sql", "SELECT 1, ?"}, {"params", {"x"}}})),
            json::parse(R"([[1, "x"]])"));
}

TEST_F(RealD1Process, GivesEachTestADatabaseOfItsOwn) {
  EXPECT_EQ(post("raw", {{"sql", "CREATE TABLE mine(a)"}}).status, 200);
  const std::string first = std::exchange(database, d1->take_database());
  EXPECT_NE(first, database);
  EXPECT_EQ(rows_of(post("raw", {{"sql", "SELECT name FROM sqlite_schema WHERE name = 'mine'"}})),
            json::array());
}

TEST_F(RealD1Process, KeepsColumnsOnRawAndFoldsRowsOnQuery) {
  const json sql = {{"sql", "SELECT 1 AS a, 2 AS a"}};
  const Answer raw = post("raw", sql);
  EXPECT_EQ(raw.body["result"][0]["results"]["columns"], json({"a", "a"}));
  EXPECT_EQ(post("query", sql).body["result"][0]["results"], json::parse(R"([{"a": 2}])"));
  const Answer none = post("raw", {{"sql", "SELECT 1 AS a WHERE 0"}});
  EXPECT_EQ(none.body["result"][0]["results"], json::parse(R"({"columns": ["a"], "rows": []})"));
}

TEST_F(RealD1Process, GivesOneResultForEachStatementOfAText) {
  const Answer answer = post("raw", {{"sql",
                                      "CREATE TABLE t(a); -- one; comment\n"
                                      "CREATE TRIGGER r AFTER INSERT ON t BEGIN"
                                      " SELECT CASE WHEN 1 THEN ';' END; SELECT 2; END;"
                                      "SELECT 'a;b' AS \"c;d\";; SELECT ? /* the end; */"},
                                     {"params", {"last"}}});
  ASSERT_THAT(answer.body["result"], SizeIs(4)) << answer.body;
  EXPECT_EQ(rows_of(answer, 2), json::parse(R"([["a;b"]])"));
  EXPECT_EQ(rows_of(answer, 3), json::parse(R"([["last"]])"));
}

TEST_F(RealD1Process, KeepsNothingOfABatchThatFails) {
  ASSERT_EQ(post("raw", {{"sql", "CREATE TABLE t(a)"}}).status, 200);
  const Answer failed =
      post("raw",
           {{"batch",
             {{{"sql", "INSERT INTO t VALUES(1)"}}, {{"sql", "INSERT INTO missing VALUES(1)"}}}}});
  EXPECT_EQ(failed.status, 400);
  EXPECT_EQ(code_of(failed), 7500);
  EXPECT_EQ(failed.body["errors"][0]["message"], "no such table: missing: SQLITE_ERROR");
  EXPECT_EQ(rows_of(post("raw", {{"sql", "SELECT count(*) FROM t"}})), json::parse("[[0]]"));
}

TEST_F(RealD1Process, LetsNobodyInWithoutItsToken) {
  for (const std::string& header :
       {std::string(), std::string("Bearer "), "Bearer " + d1->token() + "x", d1->token()}) {
    const Answer answer = post("raw", {{"sql", "SELECT 1"}}, header);
    EXPECT_EQ(answer.status, 401) << header;
    EXPECT_EQ(code_of(answer), 10000);
  }
}

// The body is read all the same: an answer before that could be lost with the connection.
TEST_F(RealD1Process, TellsAWrongTokenOfALargeRequestToo) {
  const json large = {{"sql", "SELECT length(?)"}, {"params", {std::string(3'000'000, 'x')}}};
  EXPECT_EQ(post("raw", large, "Bearer guess").status, 401);
  EXPECT_EQ(code_of(post("raw", large)), 7500) << "the engine's own limit";
}

TEST_F(RealD1Process, SaysWhatIsWrongWithARequest) {
  for (const json& body : {json::array(), json::object(), json({{"sql", 1}}),
                           json({{"sql", "SELECT ?"}, {"params", "x"}}), json({{"batch", 1}})}) {
    const Answer answer = post("raw", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(code_of(answer), 7400) << body;
  }
  const Answer no_route = post("import", {{"sql", "SELECT 1"}});
  EXPECT_EQ(no_route.status, 404);
  EXPECT_EQ(code_of(no_route), 7003);
}

TEST_F(RealD1Process, KnowsItsDatabasesAndNoOther) {
  EXPECT_THAT(get("").body["result"], SizeIs(RealD1::kDatabasesMax));
  EXPECT_EQ(get("/" + database).body["result"]["uuid"], database);
  database = "11111111-1111-4111-8111-111111111111";
  for (const Answer& answer : {get("/" + database), post("raw", {{"sql", "SELECT 1"}})}) {
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(code_of(answer), 7404);
  }
}

TEST_F(RealD1Process, IsLeftAloneByAForkedChildThatExits) {
  const pid_t child = fork();
  if (child == 0) {
    std::exit(0);  // NOLINT(concurrency-mt-unsafe): runs the destructors of globals; one thread
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(rows_of(post("raw", {{"sql", "SELECT 1"}})), json::parse("[[1]]"));
}

// What it leaves behind.

// {parent, state} of a process.
std::pair<pid_t, char> parent_and_state(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  std::getline(file, text);
  char state = 'X';  // It is gone.
  pid_t parent = 0;
  const std::size_t name_end = text.rfind(')');
  if (name_end != std::string::npos) {
    std::istringstream(text.substr(name_end + 1)) >> state >> parent;
  }
  return {parent, state};
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  std::vector<pid_t> found = {ancestor};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") == std::string::npos &&
          parent_and_state(entry.path()).first == found[i]) {
        found.push_back(std::stoi(name));
      }
    }
  }
  found.erase(found.begin());
  return found;
}

// A zombie that nobody has collected is over, too.
bool is_over(pid_t process) {
  const char state = parent_and_state("/proc/" + std::to_string(process)).second;
  return state == 'X' || state == 'Z';
}

template <typename Condition>
bool becomes_true(const Condition& condition, seconds timeout) {
  const auto end = steady_clock::now() + timeout;
  while (!condition()) {
    if (steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

// Not a test of its own: the program that the next ones end.
TEST_F(RealD1Process, DISABLED_IsHeldByThisProgram) {
  std::string said = "holding";
  for (const pid_t process : descendants_of(getpid())) {
    said += " " + std::to_string(process);
  }
  std::puts((said + " all").c_str());
  static_cast<void>(std::fflush(stdout));
  static_cast<void>(std::getchar());  // Until its stdin closes.
}

class Holder {
 public:
  Holder()
      : process_({.argv = {"/proc/self/exe", "--gtest_also_run_disabled_tests",
                           "--gtest_filter=RealD1Process.DISABLED_IsHeldByThisProgram"},
                  .env = {{"TMPDIR", folder_.path()}}}) {
    if (!process_.wait_for_text(" all\n", seconds(60))) {
      ADD_FAILURE() << process_.out() << process_.err();
      return;
    }
    const std::string out = process_.out();
    std::istringstream words(out.substr(out.find("holding") + std::string("holding").size()));
    for (pid_t process = 0; words >> process;) {
      processes_.push_back(process);
    }
  }

  Subprocess& process() { return process_; }
  [[nodiscard]] const std::vector<pid_t>& processes() const { return processes_; }
  [[nodiscard]] bool has_a_folder() const { return !fs::is_empty(folder_.path()); }

  void expect_nothing_left() const {
    for (const pid_t process : processes_) {
      EXPECT_TRUE(becomes_true([&] { return is_over(process); }, seconds(20))) << process;
    }
    EXPECT_TRUE(becomes_true([&] { return !has_a_folder(); }, seconds(20)));
  }

 private:
  TempDir folder_;
  Subprocess process_;
  std::vector<pid_t> processes_;
};

TEST_F(RealD1Process, LeavesNothingBehindAtTheEndOfTheProgram) {
  Holder holder;
  ASSERT_THAT(holder.processes(), SizeIs(2));  // node, workerd
  ASSERT_TRUE(holder.has_a_folder());
  const ProcessResult result = holder.process().wait(seconds(60), Subprocess::Stdin::kClose);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  holder.expect_nothing_left();  // The engine's process may still be on its way out.
}

TEST_F(RealD1Process, LeavesNothingBehindWhenTheProgramIsKilled) {
  Holder holder;
  ASSERT_THAT(holder.processes(), SizeIs(2));
  ASSERT_TRUE(holder.has_a_folder());
  holder.process().send_signal(SIGKILL);
  const ProcessResult result = holder.process().wait(seconds(60), Subprocess::Stdin::kKeepOpen);
  EXPECT_EQ(result.signal, SIGKILL);
  holder.expect_nothing_left();
}

}  // namespace
}  // namespace spillway::testing
