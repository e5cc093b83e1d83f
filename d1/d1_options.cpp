// SPDX-License-Identifier: MIT
#include "d1/d1_options.h"

#include "base/one_line.h"
#include "d1/api_token.h"
#include "d1/base_url.h"
#include "d1/environment.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace spillway {
namespace {

Status check_d1_id(const std::string& id, const std::string& name) {
  if (id.empty()) {
    return {StatusCode::kInvalidArgument, name + " is empty"};
  }
  if (!is_d1_id(id)) {
    return {StatusCode::kInvalidArgument,
            name + " may hold letters, digits, - and _ only, and holds something else"};
  }
  return {};
}

Status check_d1_timeouts(const D1Options& options) {
  constexpr std::chrono::hours kLongest(1);  // D1 itself gives up after 30 s.
  for (const auto timeout : {options.connect_timeout, options.attempt_timeout}) {
    if (timeout.count() <= 0 || timeout > kLongest) {
      return {StatusCode::kInvalidArgument,
              "D1Options: connect_timeout and attempt_timeout must be over 0 and at most an hour"};
    }
  }
  return {};
}

Status check_d1_clock(const D1Options& options) {
  return options.clock != nullptr
             ? Status()
             : Status(StatusCode::kInvalidArgument, "D1Options::clock is null");
}

Status check_ca_file(const std::string& path) {
  std::string why;
  std::error_code ignored;  // access(2) has succeeded.
  if (::access(path.c_str(), R_OK) != 0) {
    why = std::generic_category().message(errno);
  } else if (!std::filesystem::is_regular_file(path, ignored)) {
    why = "it is not a regular file";
  }
  if (why.empty()) {
    return {};
  }
  return {StatusCode::kConfig, "cannot read the file of certificates \"" + one_line(path) +
                                   "\" (ca_file, CURL_CA_BUNDLE or SSL_CERT_FILE): " + why};
}

Result<std::string> d1_token(const D1Options& options) {
  return options.token_file.empty() ? usable_token(options.token, "D1Options::token")
                                    : read_token_file(options.token_file);
}

Status check_d1_names(const D1Options& options) {
  if (Status status = check_d1_id(options.account_id, "D1Options::account_id"); !status.is_ok()) {
    return status;
  }
  return check_d1_id(options.database_id, "D1Options::database_id");
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return path.empty() || error ? path : absolute.string();
}

Result<std::string> account_for(const D1Url& url) {
  if (!url.account_id.empty()) {
    return url.account_id;
  }
  std::string account = environment_variable("CLOUDFLARE_ACCOUNT_ID");
  if (account.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "the database URL names no account; write d1://ACCOUNT_ID/DATABASE_ID or set "
                  "CLOUDFLARE_ACCOUNT_ID");
  }
  if (Status status = check_d1_id(account, "CLOUDFLARE_ACCOUNT_ID"); !status.is_ok()) {
    return status;
  }
  return account;
}

Result<std::string> token_of_environment() {
  constexpr const char* kName = "CLOUDFLARE_API_TOKEN";
  const std::string token = environment_variable(kName);
  if (token.empty()) {
    return Status(
        StatusCode::kConfig,
        "no token for D1: set CLOUDFLARE_API_TOKEN or name a file that holds one (--token-file of "
        "the command line, OpenOptions::token_file)");
  }
  return usable_token(token, kName);
}

}  // namespace

Result<D1HttpOptions> d1_http_options(const D1Options& options) {
  for (const Status& status :
       {check_d1_names(options), check_d1_timeouts(options), check_d1_clock(options)}) {
    if (!status.is_ok()) {
      return status;
    }
  }
  auto base = parse_base_url(options.base_url, "D1Options::base_url");
  if (!base) {
    return base.error();
  }
  auto token = d1_token(options);
  if (!token) {
    return token.error();
  }
  D1HttpOptions http;
  http.transfer.url = base->text + "/accounts/" + options.account_id + "/d1/database/" +
                      options.database_id + "/raw";
  http.transfer.token = *std::move(token);
  http.transfer.must_go_direct = base->is_loopback;
  http.transfer.connect_timeout = options.connect_timeout;
  http.peer = base->peer;
  http.clock = options.clock;
  if (base->is_https) {
    http.transfer.ca_file = options.ca_file.empty() ? ca_file_of_environment() : options.ca_file;
  }
  if (!http.transfer.ca_file.empty()) {
    if (Status status = check_ca_file(http.transfer.ca_file); !status.is_ok()) {
      return status;
    }
  }
  return http;
}

Result<D1Options> d1_options_for(const D1Url& url, OpenMode mode, const OpenOptions& options) {
  D1Options d1;
  d1.database_id = url.database_id;
  d1.is_read_only = mode == OpenMode::kReadOnly;
  d1.token_file = absolute_path(options.token_file);
  d1.ca_file = absolute_path(ca_file_of_environment());
  auto account = account_for(url);
  if (!account) {
    return account.error();
  }
  d1.account_id = *std::move(account);
  if (std::string base = environment_variable("CLOUDFLARE_API_BASE_URL"); !base.empty()) {
    if (auto parsed = parse_base_url(base, "CLOUDFLARE_API_BASE_URL"); !parsed) {
      return parsed.error();
    }
    d1.base_url = std::move(base);
  }
  if (d1.token_file.empty()) {
    auto token = token_of_environment();
    if (!token) {
      return token.error();
    }
    d1.token = *std::move(token);
  }
  return d1;
}

}  // namespace spillway
