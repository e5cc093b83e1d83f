// SPDX-License-Identifier: MIT
//
// Goal: `spillway log`, `tail` and `d1 query` do with D1's real engine what they do with a file, in
// few requests and for one row written a line. Method: the programs, with the same input into both;
// a proxy before the engine counts what is asked, and reads in its answers what was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include "tests/cli/log_file.h"
#include "tests/support/real_d1.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace spillway::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kLines = 2'000;

// Hands requests on to the engine, and counts.
class CountingProxy {
 public:
  explicit CountingProxy(const std::string& engine_url)
      : origin_(engine_url.substr(0, engine_url.find("/client"))) {
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      hand_on(request, response);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) {
      std::this_thread::yield();
    }
  }
  CountingProxy(const CountingProxy&) = delete;
  CountingProxy& operator=(const CountingProxy&) = delete;
  ~CountingProxy() {
    server_.stop();
    thread_.join();
  }

  [[nodiscard]] std::string base_url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/client/v4";
  }
  [[nodiscard]] int requests() const { return requests_; }
  /// By the statements that insert into the log table.
  [[nodiscard]] std::int64_t rows_written() const { return rows_written_; }

 private:
  void hand_on(const httplib::Request& request, httplib::Response& response) {
    ++requests_;
    httplib::Client client(origin_);
    const httplib::Result answer =
        client.Post(request.path, {{"Authorization", request.get_header_value("Authorization")}},
                    request.body, "application/json");
    response.status = answer ? answer->status : 502;
    response.set_content(answer ? answer->body : std::string(), "application/json");
    count(json::parse(request.body, nullptr, false), json::parse(response.body, nullptr, false));
  }

  void count(const json& request, const json& answer) {
    const json statements = request.contains("batch") ? request["batch"] : json::array({request});
    for (std::size_t i = 0; answer.value("success", false) && i < statements.size(); ++i) {
      if (statements[i].value("sql", "").starts_with("INSERT INTO \"logs\"")) {
        rows_written_ += answer["result"][i]["meta"].value("rows_written", 0);
      }
    }
  }

  std::string origin_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::atomic<int> requests_ = 0;
  std::atomic<std::int64_t> rows_written_ = 0;
};

// Lines of many kinds, of which no two are alike.
std::string lines() {
  const std::vector<std::string> kinds = {
      "INFO order accepted",
      "2026-08-28 06:35:12 [error] payment failed: \"card declined\"",
      "WARN disk at 91 %, path C:\\logs\\new",
      "no level word, but € and \xF0\x9F\x8C\x8A",
      "\ttabs\tand \x1b[31mcolour\x1b[0m",
      "not UTF-8: \xff\xc3(",
      "{\"level\":\"debug\",\"n\":9007199254740993}",
      "level=info msg='it''s' ?1 -- ;",
  };
  std::string text;
  for (std::size_t line = 0; line < kLines; ++line) {
    text += kinds[line % kinds.size()] + " #" + std::to_string(line) + '\n';
  }
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    all.push_back(line);
  }
  return all;
}

class ProgramsOnRealD1 : public ::testing::Test {
 protected:
  void SetUp() override {
    d1 = RealD1::of_this_program();
    if (d1 == nullptr) {
      GTEST_SKIP() << RealD1::absence();
    }
    proxy = std::make_unique<CountingProxy>(d1->base_url());
    url = "d1://" + d1->account_id() + "/" + d1->take_database();
  }

  [[nodiscard]] ProcessResult spillway(std::vector<std::string> arguments,
                                       const std::string& input = {}) const {
    arguments.insert(arguments.begin(), SPILLWAY_PROGRAM);
    return run({.argv = std::move(arguments),
                .env = {{"CLOUDFLARE_API_TOKEN", d1->token()},
                        {"CLOUDFLARE_API_BASE_URL", proxy->base_url()}},
                .working_directory = directory.path()},
               input);
  }
  /// What it says on stdout; a failure is a failure of the test.
  [[nodiscard]] std::string said(const std::vector<std::string>& arguments,
                                 const std::string& input = {}) const {
    const ProcessResult result = spillway(arguments, input);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  RealD1* d1 = nullptr;
  std::unique_ptr<CountingProxy> proxy;
  std::string url;
  TempDir directory;
  const std::string file_url = "sqlite:x.db";
};

TEST_F(ProgramsOnRealD1, StoreAndShowTheSameRowsAsInAFile) {
  const std::string input = lines();
  for (const std::string& db : {url, file_url}) {
    const std::string closing = said({"log", "--db", db, "--context", "app"}, input);
    EXPECT_EQ(json_number(closing, "$.stored"), kLines) << closing;
    EXPECT_EQ(json_number(closing, "$.issued"), kLines) << closing;
  }
  EXPECT_EQ(proxy->rows_written(), kLines) << "one row on the bill for each";
  EXPECT_LE(proxy->requests(), 12);

  const std::string select = "SELECT seq, level, context, message, fields FROM logs ORDER BY seq";
  const std::string rows = said({"d1", "query", "--json", "--db", url, select});
  EXPECT_THAT(split(rows), SizeIs(kLines));
  EXPECT_EQ(rows, said({"d1", "query", "--json", "--db", file_url, select}));
}

TEST_F(ProgramsOnRealD1, ShowTheSameWindowAsOfAFile) {
  const std::string create =
      "CREATE TABLE logs(created_at TEXT NOT NULL, writer INTEGER NOT NULL, seq INTEGER NOT NULL, "
      "level TEXT NOT NULL, context TEXT NOT NULL, message TEXT NOT NULL, fields TEXT, "
      "PRIMARY KEY(created_at, writer, seq)) WITHOUT ROWID";
  const std::string fill =
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO logs "
      "SELECT '2026-08-28T06:35:' || printf('%02d', i / 10) || '.000Z', 9007199254740991, i, "
      "iif(i % 50, 'INFO', 'ERROR'), 'app', 'order ' || i, json_object('order', i) FROM n";
  execute_sql(directory.path() / "x.db", create);
  for (const std::string& db : {url, file_url}) {
    if (db == url) {
      EXPECT_EQ(said({"d1", "query", "--db", db, create}), "");
    }
    EXPECT_THAT(spillway({"d1", "query", "--db", db, fill}).err, HasSubstr("500 changed"));
  }
  const std::vector<std::vector<std::string>> wishes = {
      {},
      {"--json"},
      {"--limit", "3", "--json"},
      {"--level", "error", "--limit", "100"},
      {"--grep", "order 49", "--since", "2026-08-28"},
      {"--since", "2026-08-28T06:35:10", "--until", "2026-08-28T06:35:12", "--json"}};
  for (const std::vector<std::string>& wish : wishes) {
    const auto shown = [&](const std::string& db) {
      std::vector<std::string> arguments{"tail", "--db", db};
      arguments.insert(arguments.end(), wish.begin(), wish.end());
      return said(arguments);
    };
    const std::string of_d1 = shown(url);
    EXPECT_THAT(of_d1, HasSubstr("order"));
    EXPECT_EQ(of_d1, shown(file_url));
  }
}

TEST_F(ProgramsOnRealD1, TakeAndShowValuesExactly) {
  EXPECT_EQ(said({"d1", "query", "--db", url, "CREATE TABLE t(a, b, c, d, e)"}), "");
  const ProcessResult insert =
      spillway({"d1", "query", "--db", url, "INSERT INTO t VALUES(?, ?, ?, ?, ?)",
                "int:-9223372036854775808", "real:0.1", "hex:00FF", "null:", "text:int:5"});
  EXPECT_EQ(insert.exit_code, 0) << insert.err;
  EXPECT_THAT(insert.err, HasSubstr("1 written"));
  EXPECT_EQ(said({"d1", "query", "--json", "--db", url, "SELECT * FROM t"}),
            "{\"a\":-9223372036854775808,\"b\":0.1,\"c\":[0,255],\"d\":null,\"e\":\"int:5\"}\n");
  const ProcessResult refused = spillway({"d1", "query", "--db", url, "SELECT * FROM missing"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("no such table: missing"));
  EXPECT_THAT(refused.out, IsEmpty());
}

}  // namespace
}  // namespace spillway::testing
