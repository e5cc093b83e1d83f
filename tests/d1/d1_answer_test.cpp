// SPDX-License-Identifier: MIT
#include "d1/d1_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "d1/classify.h"
#include "tests/support/sanitizers.h"

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace spillway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of results with one column.
const CellForms kPlain = {};
const CellForms kTagged = {CellForm::kTagged};
const CellForms kTaggedHex = {CellForm::kTaggedHex};

Result<std::vector<StatementResult>> read(std::string body, std::vector<CellForms> forms = {kPlain},
                                          int http_status = 200) {
  return read_answer({.http_status = http_status, .body = std::move(body)}, forms);
}

Status failure(const std::string& body, int http_status = 200) {
  const auto results = read(body, {kPlain}, http_status);
  EXPECT_FALSE(results) << body;
  return results.status();
}

// A whole answer with these results of statements.
std::string success(const std::string& results) {
  return R"({"success":true,"errors":[],"messages":[],"result":[)" + results + "]}";
}

// One result with one column and one row.
std::string cell(const std::string& json) {
  return success(R"({"success":true,"results":{"columns":["c"],"rows":[[)" + json + R"(]]}})");
}

Value value_of(const std::string& json, const CellForms& form) {
  const auto results = read(cell(json), {form});
  EXPECT_TRUE(results) << json << ": " << results.status().to_string();
  return results ? results->front().rows.front().front() : Value(std::string("no value"));
}

constexpr const char* kWritten = R"({"success":true,"results":{"columns":[],"rows":[]}})";

TEST(D1Answer, ReadsColumnsRowsAndFigures) {
  const auto results = read(success(
      R"({"results":{"columns":["a","a","b"],"rows":[[1,"x",null],[2,"y",0.5]]},"success":true,)"
      R"("meta":{"changes":3,"last_row_id":7,"rows_read":11,"rows_written":5,"duration":0.25}})"));
  ASSERT_TRUE(results) << results.status().to_string();
  ASSERT_EQ(results->size(), 1U);
  const StatementResult& result = results->front();
  EXPECT_EQ(result.columns, (std::vector<std::string>{"a", "a", "b"}));
  EXPECT_EQ(result.rows, (std::vector<Row>{{std::int64_t{1}, std::string("x"), Value()},
                                           {std::int64_t{2}, std::string("y"), 0.5}}));
  EXPECT_EQ(result.meta.changes, 3);
  EXPECT_EQ(result.meta.last_row_id, 7);
  EXPECT_EQ(result.meta.rows_read, 11);
  EXPECT_EQ(result.meta.rows_written, 5);
  EXPECT_EQ(result.meta.duration, std::chrono::microseconds(250));
}

TEST(D1Answer, DoesWithoutFigures) {
  for (const char* meta : {"", R"(,"meta":null)", R"(,"meta":{})", R"(,"meta":[1])",
                           R"(,"meta":{"changes":"3","duration":-1,"rows_read":1e300})"}) {
    const auto results = read(success(R"({"success":true,"results":[])" + std::string(meta) + "}"));
    ASSERT_TRUE(results) << meta;
    EXPECT_EQ(results->front().meta.changes, 0);
    EXPECT_EQ(results->front().meta.rows_read, 0);
    EXPECT_EQ(results->front().meta.duration, std::chrono::microseconds(0));
  }
}

TEST(D1Answer, TakesAStatementWithoutRowsInEachFormThatIsSent) {
  for (const char* results : {kWritten, R"({"success":true})", R"({"success":true,"results":null})",
                              R"({"success":true,"results":[]})"}) {
    EXPECT_TRUE(read(success(results))) << results;
  }
}

TEST(D1Answer, TakesAWrappedStatementWithoutRowsThatNamesNoColumns) {
  for (const char* results : {R"({"success":true,"results":[]})", kWritten}) {
    const auto none = read(success(results), {kTagged});
    ASSERT_TRUE(none) << results;
    EXPECT_TRUE(none->front().rows.empty());
  }
  const auto some =
      read(success(R"({"success":true,"results":{"columns":[],"rows":[["i1"]]}})"), {kTagged});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->front().rows, (std::vector<Row>{{std::int64_t{1}}}));
  for (const char* results :
       {R"({"success":true})", R"({"success":true,"results":null})",
        R"({"success":true,"results":{"columns":["a","b"],"rows":[]}})",
        R"({"success":true,"results":{"columns":["a","b"],"rows":[["i1","i2"]]}})",
        R"({"success":true,"results":{"columns":["a"],"rows":[["i1","i2"]]}})"}) {
    EXPECT_EQ(read(success(results), {kTagged}).status().code(), StatusCode::kLost) << results;
  }
}

TEST(D1Answer, TellsIntegersFromRealsAsFarAsD1Does) {
  EXPECT_EQ(value_of("0", kPlain), Value(std::int64_t{0}));
  EXPECT_EQ(value_of("-3", kPlain), Value(std::int64_t{-3}));
  EXPECT_EQ(value_of("9007199254740991", kPlain), Value(std::int64_t{9007199254740991}));
  EXPECT_EQ(value_of("9007199254740992", kPlain), Value(9007199254740992.0));
  EXPECT_EQ(value_of("-9223372036854775808", kPlain), Value(-9223372036854775808.0));
  EXPECT_EQ(value_of("100000000000000000000", kPlain), Value(1e20));
  EXPECT_EQ(value_of("0.5", kPlain), Value(0.5));
  EXPECT_EQ(value_of("1e21", kPlain), Value(1e21));
  EXPECT_EQ(value_of("null", kPlain), Value());
  EXPECT_EQ(value_of(R"("i7")", kPlain), Value(std::string("i7")));
  EXPECT_EQ(value_of("[0,255]", kPlain), Value(Blob{std::byte{0}, std::byte{255}}));
}

TEST(D1Answer, ReadsTaggedValuesExactly) {
  EXPECT_EQ(value_of(R"("i9223372036854775807")", kTagged),
            Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(value_of(R"("i-9223372036854775808")", kTagged),
            Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(value_of("3", kTagged), Value(3.0));
  EXPECT_EQ(value_of("5e-324", kTagged), Value(5e-324));
  EXPECT_EQ(value_of("9223372036854776000", kTagged), Value(9223372036854775808.0));
  EXPECT_TRUE(std::signbit(std::get<double>(value_of(R"("z")", kTagged))));
  EXPECT_EQ(value_of(R"("+")", kTagged), Value(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(value_of(R"("-")", kTagged), Value(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(value_of(R"("t")", kTagged), Value(std::string()));
  EXPECT_EQ(value_of(R"("tt\u0000x")", kTagged), Value(std::string("t\0x", 3)));
  EXPECT_EQ(value_of("[116,0]", kTagged), Value(Blob{std::byte{116}, std::byte{0}}));
  EXPECT_EQ(value_of("[]", kTagged), Value(Blob{}));
  EXPECT_EQ(value_of("null", kTagged), Value());
  EXPECT_EQ(value_of("[116,0,255]", kTaggedHex), Value(std::string("\0\xFF", 2)));
  EXPECT_EQ(value_of("[98,0,255]", kTaggedHex), Value(Blob{std::byte{0}, std::byte{255}}));
  EXPECT_EQ(value_of(R"("x00FF9A")", kTaggedHex), Value(std::string("\0\xFF\x9A", 3)));
  EXPECT_EQ(value_of(R"("x")", kTaggedHex), Value(std::string()));
  EXPECT_EQ(value_of(R"("i7")", kTaggedHex), Value(std::int64_t{7}));
}

TEST(D1Answer, CountsNoValueThatItDoesNotUnderstand) {
  const struct {
    const char* json;
    CellForms form;
  } cases[] = {
      {"true", kPlain},         {"{}", kPlain},
      {"[256]", kPlain},        {"[-1]", kPlain},
      {"[1.5]", kPlain},        {R"(["a"])", kPlain},
      {R"("")", kTagged},       {R"("y1")", kTagged},
      {R"("x1")", kTaggedHex},  {R"("x1g")", kTaggedHex},
      {R"("xff")", kTaggedHex}, {R"("i")", kTagged},
      {R"("i1x")", kTagged},    {R"("i9223372036854775808")", kTagged},
      {R"("z1")", kTagged},     {"true", kTagged},
      {"{}", kTagged},          {"[]", kTaggedHex},
      {"[120,1]", kTaggedHex},  {"[300]", kTaggedHex},
  };
  for (const auto& each : cases) {
    const auto results = read(cell(each.json), {each.form});
    ASSERT_FALSE(results) << each.json;
    EXPECT_EQ(results.error().code(), StatusCode::kLost) << each.json;
    EXPECT_EQ(results.error().execution(), Execution::kMaybe) << each.json;
  }
}

// Whatever says success but is not whole may have been executed, and is no success.
TEST(D1Answer, CountsNothingAsSuccessThatIsNotWhole) {
  for (const std::string& body : {
           std::string(),
           std::string("  \n"),
           std::string("{"),
           std::string("<!DOCTYPE html><html><body>fine</body></html>"),
           std::string("OK"),
           std::string("[]"),
           std::string("null"),
           std::string("\"success\""),
           std::string("{}"),
           std::string(R"({"result":[{"success":true,"results":[]}],"errors":[]})"),
           std::string(R"({"success":"true","result":[{"success":true,"results":[]}]})"),
           std::string(R"({"success":1,"result":[{"success":true,"results":[]}]})"),
           std::string(R"({"success":false,"errors":[],"result":[]})"),
           std::string(R"({"success":true})"),
           std::string(R"({"success":true,"result":null})"),
           std::string(R"({"success":true,"result":{}})"),
           success(""),
           success(std::string(kWritten) + "," + kWritten),
           success("null"),
           success("{}"),
           success(R"({"results":[]})"),
           success(R"({"success":false,"results":[]})"),
           success(R"({"success":true,"results":"x"})"),
           success(R"({"success":true,"results":[{"c":1}]})"),
           success(R"({"success":true,"results":{"columns":["c"]}})"),
           success(R"({"success":true,"results":{"rows":[[1]]}})"),
           success(R"({"success":true,"results":{"columns":["c"],"rows":[[1,2]]}})"),
           success(R"({"success":true,"results":{"columns":["c"],"rows":[{"c":1}]}})"),
           success(R"({"success":true,"results":{"columns":[1],"rows":[[1]]}})"),
           success(R"({"success":true,"results":{"columns":"c","rows":[["1"]]}})"),
           success(kWritten).substr(0, 50),
           std::string(R"({"success":true,"errors":[{"code":7500,"message":"new"}],"result":[)") +
               kWritten + "]}",
       }) {
    for (const int http_status : {200, 204}) {
      const Status status = failure(body, http_status);
      EXPECT_EQ(status.code(), StatusCode::kLost) << body;
      EXPECT_EQ(status.execution(), Execution::kMaybe) << body;
      EXPECT_EQ(status.http_status(), http_status) << body;
      EXPECT_LE(status.message().size(), 256U);
      EXPECT_THAT(status.message(), Not(HasSubstr("<html")));
    }
  }
  EXPECT_FALSE(read(success(kWritten), {kPlain}, 500));
  EXPECT_TRUE(read(success(kWritten)));
}

TEST(D1Answer, ReadsTheErrorsThatD1Sends) {
  const Status status =
      failure(R"({"messages":[],"result":[],"success":false,"errors":[{"code":7500,)"
              R"("message":"too many SQL variables at offset 434: SQLITE_ERROR"}]})",
              400);
  EXPECT_EQ(status.code(), StatusCode::kTooBig);
  EXPECT_EQ(status.d1_code(), 7500);
  EXPECT_EQ(status.http_status(), 400);
  EXPECT_EQ(status.message(), "too many SQL variables");
}

TEST(D1Answer, TakesTheHttpStatusWhereTheErrorsSayNothing) {
  for (const std::string& errors :
       {std::string("null"), std::string("[]"), std::string("[{}]"), std::string("\"x\""),
        std::string("5"), std::string("[null]"), std::string("[[]]"),
        std::string(R"([{"code":"7500","message":5}])"), std::string(R"([{"code":1e30}])"),
        std::string(R"([{"code":-7404}])"), std::string(R"([{"code":99999999999}])"),
        std::string(R"([{"message":{"a":1}}])")}) {
    const std::string body = R"({"success":false,"errors":)" + errors + "}";
    EXPECT_EQ(failure(body, 400).code(), StatusCode::kPermanent) << body;
    EXPECT_EQ(failure(body, 429).code(), StatusCode::kOverload) << body;
    EXPECT_EQ(failure(body, 503).code(), StatusCode::kLost) << body;
    EXPECT_EQ(failure(body, 503).message(), "unknown error (HTTP 503)") << body;
    EXPECT_EQ(failure(body, 503).d1_code(), 0) << body;
  }
}

TEST(D1Answer, ReadsTheErrorOfOneStatementAndOfServicesWithAnotherForm) {
  EXPECT_EQ(failure(success(R"({"success":false,"error":"UNIQUE constraint failed: a.b"})")).code(),
            StatusCode::kConstraint);
  EXPECT_EQ(failure(R"({"code":10000,"error":"go away"})", 400).code(), StatusCode::kAuth);
}

TEST(D1Answer, FollowsTheChainOfCauses) {
  const Status status = failure(
      R"({"success":false,"errors":[{"code":7500,"message":"failed","error_chain":[)"
      R"({"code":1,"message":"because","error_chain":[{"message":"Network connection lost."}]}]},)"
      R"({"code":2,"message":"and"}]})",
      400);
  EXPECT_EQ(status.code(), StatusCode::kLost);
  EXPECT_EQ(status.to_string(),
            "lost: failed; because permanent: because; because lost: Network connection lost.; "
            "because permanent: and");
}

// `depth` errors, each the cause of the one before it.
std::string chain_of_errors(std::size_t depth) {
  std::string begin;
  std::string end;
  for (std::size_t i = 0; i < depth; ++i) {
    begin += R"({"code":1,"message":"[{deeper\"[","error_chain":[)";
    end += "]}";
  }
  return R"({"success":false,"errors":[)" + begin + end + "]}";
}

TEST(D1Answer, BearsAnyDepthOfNesting) {
  EXPECT_EQ(failure(chain_of_errors(kErrorChainMax - 1), 400).message(), "[{deeper\"[");
  for (const std::size_t depth : {kErrorChainMax, std::size_t{10'000}}) {
    const Status status = failure(chain_of_errors(depth), 400);
    EXPECT_EQ(status.code(), StatusCode::kPermanent) << depth;
    EXPECT_EQ(status.message(), "HTTP 400 with a body nested too deeply") << depth;
  }
  const std::string open(10'000, '[');
  const std::string close(10'000, ']');
  for (const std::string& body : {cell(open + close), open + close, open, close + open}) {
    EXPECT_EQ(failure(body).code(), StatusCode::kLost);
  }
}

std::size_t highest_memory_bytes() {
  struct rusage usage = {};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1'024;
}

// Of a text, while it is read; sanitizers remember what has been freed.
constexpr std::size_t kCopies = testing::kHasSanitizer ? 9 : 3;

// 64 KB of gzip may unpack to eight times as many.
TEST(D1Answer, DoesNotLetNestedListsTakeTheMemory) {
  const std::string lists(std::size_t{8} << 20U, '[');
  const std::size_t before = highest_memory_bytes();
  EXPECT_EQ(failure(lists).message(), "HTTP 200 with a body nested too deeply");
  const std::size_t grown = highest_memory_bytes() - before;
  EXPECT_LT(grown, kCopies * lists.size());  // A tree of it is 75 times as large.
}

// "[", eight megabytes of `element` with commas between, "]".
std::string long_list(const std::string& element) {
  std::string list = "[" + element;
  while (list.size() < std::size_t{8} << 20U) {
    list += "," + element;
  }
  return list + "]";
}

TEST(D1Answer, LetsNothingThatIsNotKeptTakeTheMemory) {
  const std::string rows = R"({"success":true,"results":{"columns":["c"],"rows":)";
  for (const std::string& body : {
           R"({"success":false,"errors":)" + long_list("{}") + "}",
           R"({"success":true,"result":)" + long_list("{}") + "}",
           R"({"success":true,"other":)" + long_list("{}") + "}",
           success(rows + long_list("{}") + "}}"),
           success(rows + long_list("[]") + "}}"),
           success(rows + "[" + long_list("0") + "]}}"),
           success(rows + "[[" + long_list("256") + "]]}}"),
           success(R"({"success":true,"results":{"columns":)" + long_list(R"("")") + "}}"),
       }) {
    const std::size_t before = highest_memory_bytes();
    EXPECT_EQ(failure(body).code(), StatusCode::kLost) << body.substr(0, 70);
    const std::size_t grown = highest_memory_bytes() - before;
    EXPECT_LT(grown, kCopies * body.size()) << body.substr(0, 70);  // A tree: 10 to 30 times.
  }
}

TEST(D1Answer, TakesTheMembersOfAnObjectInAnyOrderAndTheLastOfAName) {
  const auto results =
      read(R"({"result":[{"meta":{"changes":2},"results":{"rows":[[1,2]],"columns":["a","b"]},)"
           R"("success":true}],"errors":[{"code":1}],"success":false,"errors":[],"success":true})");
  ASSERT_TRUE(results) << results.status().to_string();
  EXPECT_EQ(results->front().columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(results->front().rows, (std::vector<Row>{{std::int64_t{1}, std::int64_t{2}}}));
  std::string twice = success(kWritten);
  twice.insert(twice.size() - 1, R"(,"success":false)");
  EXPECT_FALSE(read(twice));
  EXPECT_FALSE(
      read(success(R"({"success":true,"results":{"rows":[[1,2],[3,4]],"columns":["a"]}})")));
}

// A batch is one transaction: the error of the second one is what became of all.
TEST(D1Answer, TellsWhatBecameOfTheFirstMemberThatFailed) {
  const std::string failed = R"({"success":false,"error":"UNIQUE constraint failed: a.b"})";
  const std::string odd = R"({"success":true,"results":5})";
  const std::string whole = kWritten;
  const auto status_of = [](const std::string& results) {
    return read(success(results), {kPlain, kPlain, kPlain}).status();
  };
  EXPECT_EQ(status_of(whole + "," + failed + "," + odd).code(), StatusCode::kConstraint);
  EXPECT_EQ(status_of(whole + "," + odd + "," + failed).message(),
            "HTTP 200, but a result cannot be understood");
  EXPECT_EQ(status_of(failed + "," + failed).message(),
            "HTTP 200, but not one result for each statement");
}

TEST(D1Answer, StopsReadingALargeAnswerWhenItIsOver) {
  const std::vector<CellForms> forms = {kPlain};
  const std::string one = R"({"success":true,"results":{"columns":["c"],"rows":)";
  const std::string large = success(one + long_list("[1]") + "}}");
  int looks = 0;
  const auto is_over = [&looks] { return ++looks == 3; };
  const auto cut = read_answer({.http_status = 200, .body = large}, forms, is_over);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code(), StatusCode::kLost);
  EXPECT_EQ(cut.error().execution(), Execution::kMaybe);
  EXPECT_EQ(looks, 3);
  const std::string small = success(one + "[[1]]}}");
  EXPECT_TRUE(read_answer({.http_status = 200, .body = small}, forms, [] { return true; }))
      << "it is here, and read at once";
}

TEST(D1Answer, MayHaveBeenExecutedWhereOnlyTheHttpStatusSaysThatItFailed) {
  for (const int http_status : {400, 401, 404, 413, 429}) {
    EXPECT_EQ(failure(success(kWritten), http_status).execution(), Execution::kMaybe);
    EXPECT_EQ(failure(R"({"success":false,"errors":[]})", http_status).execution(), Execution::kNo);
    EXPECT_EQ(failure(R"({"success":true,"errors":[{"code":7400}]})", http_status).execution(),
              Execution::kNo);
  }
}

TEST(D1Answer, ShowsNoPartOfTheTokenWhereATextIsCut) {
  constexpr std::string_view kToken = "abc123SECRET";
  const std::vector<CellForms> forms = {kPlain};
  for (std::size_t before = 230; before < 262; ++before) {
    const std::string text = std::string(before, 'x') + std::string(kToken) + " and more";
    const std::string body = R"({"success":false,"errors":[{"code":1,"message":")" + text +
                             R"(","error_chain":[{"message":")" + text + R"("}]}]})";
    const auto results = read_answer({.http_status = 400, .body = body, .token = kToken}, forms);
    EXPECT_THAT(results.status().to_string(), Not(HasSubstr("xa"))) << before;
  }
}

TEST(D1Answer, TellsWhatCameInPlaceOfJson) {
  const std::string page = "\n<html><body>" + std::string(6'000, 'x') + "</body></html>";
  EXPECT_EQ(failure(page, 504).message(), "HTTP 504 with HTML in place of JSON");
  EXPECT_EQ(failure("", 502).message(), "HTTP 502 without a body");
  EXPECT_EQ(failure(R"({"success":tr)", 200).message(),
            "HTTP 200 with a body that is not whole JSON");
  EXPECT_EQ(failure("upstream request timeout", 503).message(),
            "HTTP 503 with a plain text: upstream request timeout");
  EXPECT_EQ(failure("error code: 1015\n", 429).message(),
            "HTTP 429 with a plain text: error code: 1015");
  EXPECT_EQ(failure("no such page", 404).message(),
            "HTTP 404 with a plain text: no such page; correct the base URL "
            "(CLOUDFLARE_API_BASE_URL)");
  EXPECT_EQ(failure("bytes \xFF", 503).message(), "HTTP 503 with a body that is not whole JSON");
  const struct {
    int http_status;
    StatusCode code;
  } cases[] = {
      {301, StatusCode::kConfig}, {400, StatusCode::kPermanent}, {401, StatusCode::kAuth},
      {403, StatusCode::kAuth},   {413, StatusCode::kTooBig},    {429, StatusCode::kOverload},
      {500, StatusCode::kLost},   {502, StatusCode::kLost},      {504, StatusCode::kLost},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(failure(page, each.http_status).code(), each.code) << each.http_status;
    EXPECT_EQ(failure("", each.http_status).code(), each.code) << each.http_status;
  }
}

TEST(D1Answer, PassesOnWhatTheTransportSaysAndWhatTheServerAsksToWait) {
  const std::vector<CellForms> forms = {kPlain};
  const Status cut(StatusCode::kLost, "connection closed");
  EXPECT_EQ(read_answer({.transport = cut, .body = success(kWritten)}, forms).status().message(),
            "connection closed");
  for (const std::string& body :
       {std::string("{}"), std::string("<html>"), std::string(R"({"errors":[{"code":971}]})"),
        success(""), success(R"({"success":true,"results":5})"), std::string("{\"succ")}) {
    for (const int http_status : {200, 429, 503}) {
      const HttpAnswer answer = {
          .http_status = http_status, .body = body, .retry_after = std::chrono::seconds(7)};
      EXPECT_EQ(read_answer(answer, forms).status().retry_after(), std::chrono::seconds(7)) << body;
    }
  }
}

}  // namespace
}  // namespace spillway
