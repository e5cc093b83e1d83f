// SPDX-License-Identifier: MIT
//
// CurlTransfer: RAII over the handles of libcurl that POST bodies to one URL, over a connection
// that is kept. What happened is told in libcurl's terms; curl_failure.h says what it means.
//
// One thread at a time. Neither copied nor moved: libcurl's callbacks hold its address. It must not
// be used or destroyed in a forked child: it would write to its parent's connection. There it may
// only be abandoned.
#pragma once

#include <spillway/status.h>

#include <curl/curl.h>

#include "d1/answer_headers.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

struct TransferOptions {
  std::string url;
  std::string token;
  std::string ca_file;         ///< Empty: the system's certificates.
  bool must_go_direct = true;  ///< Else through the proxy that the environment names.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  /// Another server may have taken over the name meanwhile.
  std::chrono::seconds connection_lifetime = std::chrono::seconds(60);
  /// D1 answers with 50 MB of results at most; escapes and names make more of it.
  /// Source: developers.cloudflare.com/d1/platform/limits.
  std::size_t answer_bytes_max = 64 * 1024 * 1024;
};

struct TransferOutcome {
  CURLcode code = CURLE_OK;
  std::string what = {};  ///< libcurl's own words about a failure.
  int http_status = 0;
  std::string body = {};
  AnswerHeaders headers = {};
  bool is_cancelled = false;
  bool is_answer_too_large = false;
  std::size_t answer_bytes_max = 0;
  bool is_out_of_memory = false;
  bool has_no_descriptor = false;  ///< No socket could be made: this process has too many files.
  bool may_name_user = false;      ///< `what` may hold a part of a proxy's user and password.
  bool has_answer_begun = false;   ///< A line of it has come.
  bool is_on_kept_connection = false;
  /// All of the request's body was handed to libcurl: the server may have got it. False: nobody
  /// can have executed what it says.
  bool is_sent = false;
};

enum class ConnectionUse : std::uint8_t { kKept, kFresh };

class CurlTransfer {
 public:
  /// kInternal: libcurl lacks memory, or an option that we need.
  [[nodiscard]] static Result<std::unique_ptr<CurlTransfer>> make(const TransferOptions& options);
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  ~CurlTransfer();

  /// Blocks until there is an answer, a failure, `timeout` (at least 1 ms) or a cancel, which is
  /// noticed at once. The body is sent once: libcurl repeats nothing by itself. kFresh makes a
  /// connection of its own, which is kept then.
  [[nodiscard]] TransferOutcome post(std::string_view body, std::chrono::milliseconds timeout,
                                     const std::stop_token& cancel,
                                     ConnectionUse use = ConnectionUse::kKept);

  /// In a forked child: closes the sockets there and nothing else, so that the parent's closing
  /// them ends the connection, and leaks the rest of `transfer`: libcurl would say goodbye.
  static void abandon(const CurlTransfer& transfer) noexcept;

 private:
  explicit CurlTransfer(const TransferOptions& options);
  [[nodiscard]] bool set_up(const TransferOptions& options);
  void set_request(const TransferOptions& options);
  void set_security(const TransferOptions& options);
  void set_connection(const TransferOptions& options);
  void set_callbacks();
  template <typename Value>
  void set(CURLoption option, Value value);
  [[nodiscard]] bool add_header(const std::string& line);

  [[nodiscard]] CURLcode run(const std::stop_token& cancel);
  [[nodiscard]] std::optional<CURLcode> advance();

  static std::size_t on_read(char* buffer, std::size_t size, std::size_t count,
                             void* self) noexcept;
  static std::size_t on_write(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t on_header(char* data, std::size_t size, std::size_t count,
                               void* self) noexcept;
  static int on_request(void* self, char*, char*, int, int) noexcept;
  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept;
  static int on_close(void* self, curl_socket_t descriptor) noexcept;

  void note_end(CURLcode code);
  static std::size_t no_memory(CurlTransfer& transfer) noexcept;

  const std::size_t answer_bytes_max_;
  const bool may_use_proxy_;
  std::vector<curl_socket_t> sockets_;  // That are open.
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_{nullptr,
                                                                       &curl_slist_free_all};
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_{nullptr, &curl_multi_cleanup};
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_{nullptr, &curl_easy_cleanup};
  bool are_options_set_ = true;
  std::array<char, CURL_ERROR_SIZE> error_text_{};

  // Of the request that runs.
  std::string_view unsent_;
  bool has_opened_socket_ = false;
  bool has_begun_sending_ = false;
  TransferOutcome outcome_;
};

}  // namespace spillway
