// SPDX-License-Identifier: MIT
#include "d1/d1_answer.h"

#include "base/ascii.h"
#include "base/one_line.h"
#include "base/utf8.h"
#include "d1/answer_reader.h"
#include "d1/api_token.h"
#include "d1/classify.h"

#include <string>
#include <string_view>
#include <utility>

namespace spillway {
namespace {

constexpr int kHttpNotFound = 404;

bool has_success_status(const HttpAnswer& answer) {
  return answer.http_status >= 200 && answer.http_status < 300;
}

bool says_success(const Report& report) { return report.is_success && !report.has_errors; }

Status failure_of(Report report, const HttpAnswer& answer) {
  if (report.errors.empty() && !report.other.message.empty()) {
    report.errors.push_back(std::move(report.other));
  }
  for (D1Error& error : report.errors) {  // Before anything is cut, which may go through a token.
    error.message = without_token(std::move(error.message), answer.token);
  }
  const Status failure = classify({.errors = std::move(report.errors),
                                   .http_status = answer.http_status,
                                   .retry_after = answer.retry_after});
  // Whoever put that status on it, the database may have said that all was done.
  return says_success(report) ? failure.with_execution(Execution::kMaybe) : failure;
}

// An answer that says success, but not all of it.
Status not_whole(const HttpAnswer& answer, const std::string& what) {
  return Status(StatusCode::kLost, "HTTP " + std::to_string(answer.http_status) + ", but " + what)
      .with_http_status(answer.http_status)
      .with_retry_after(answer.retry_after);
}

// A few words in plain text, as proxies send them ("upstream request timeout"), may be shown.
bool is_plain_text(std::string_view body) {
  constexpr std::size_t kPlainBytesMax = 200;
  return body.size() <= kPlainBytesMax && is_storable_text(body) &&
         body.find_first_of("<{[\"") == std::string_view::npos;
}

std::string what_instead_of_json(std::string_view body) {
  body = trimmed(body);
  if (body.empty()) {
    return "without a body";
  }
  if (body.front() == '<') {
    return "with HTML in place of JSON";
  }
  return is_plain_text(body) ? "with a plain text: " + one_line(body)
                             : "with a body that is not whole JSON";
}

Status not_understood(const HttpAnswer& answer, const std::string& what) {
  const Status status =
      classify({.http_status = answer.http_status, .retry_after = answer.retry_after});
  // Cloudflare says its own 404 in JSON: whoever says this is somebody else.
  const std::string way_out =
      answer.http_status == kHttpNotFound ? "; correct the base URL (CLOUDFLARE_API_BASE_URL)" : "";
  return status.with_message("HTTP " + std::to_string(answer.http_status) + " " + what + way_out);
}

Result<std::vector<StatementResult>> results_of(AnswerContent content, const HttpAnswer& answer,
                                                std::size_t count) {
  if (content.members != count) {
    return not_whole(answer, "not one result for each statement");
  }
  if (content.failed) {
    return content.failed->is_success ? not_whole(answer, "a result cannot be understood")
                                      : failure_of(*std::move(content.failed), answer);
  }
  return std::move(content.results);
}

}  // namespace

Result<std::vector<StatementResult>> read_answer(const HttpAnswer& answer,
                                                 std::span<const CellForms> forms,
                                                 const std::function<bool()>& is_over) {
  if (!answer.transport.is_ok()) {
    return answer.transport;
  }
  const bool may_succeed = has_success_status(answer);
  AnswerContent content =
      read_content(answer.body, may_succeed ? forms : std::span<const CellForms>(), is_over);
  switch (content.form) {
    case AnswerContent::Form::kNoObject:
      return not_understood(answer, what_instead_of_json(answer.body));
    case AnswerContent::Form::kTooDeep:
      return not_understood(answer, "with a body nested too deeply");
    case AnswerContent::Form::kUnfinished:
      return not_whole(answer, "a cancel or the deadline ended the reading of it");
    case AnswerContent::Form::kObject:
      break;
  }
  if (!may_succeed || !says_success(content.report)) {
    return failure_of(std::move(content.report), answer);
  }
  return results_of(std::move(content), answer, forms.size());
}

}  // namespace spillway
