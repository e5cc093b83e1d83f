// SPDX-License-Identifier: MIT
#include "d1/curl_transfer.h"

#include "d1/environment.h"
#include "d1/sigpipe_guard.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iterator>
#include <limits>
#include <utility>

namespace spillway {
namespace {

// Sockets must not stay open in programs that the application starts.
#ifdef SOCK_CLOEXEC
constexpr int kCloseOnExec = SOCK_CLOEXEC;
#else
constexpr int kCloseOnExec = 0;
#endif

// Nothing depends on it: whatever happens wakes curl_multi_poll earlier.
constexpr int kPollMs = 1000;

// Once for the process, and never undone: the application may use libcurl too, before and after us.
bool is_libcurl_ready() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  return code == CURLE_OK;
}

// True if a proxy that libcurl may use wants a user: "http://user:password@proxy:8080".
bool has_proxy_user() {
  constexpr const char* kVariables[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::any_of(std::begin(kVariables), std::end(kVariables), [](const char* name) {
    return environment_variable(name).find('@') != std::string::npos;
  });
}

long as_long(std::chrono::milliseconds time) {
  // 0 would mean no limit to libcurl.
  return static_cast<long>(
      std::clamp<std::chrono::milliseconds::rep>(time.count(), 1, std::numeric_limits<int>::max()));
}

// Takes a transfer out of libcurl's hands again, whatever way it ends.
class RunningTransfer {
 public:
  RunningTransfer(CURLM* multi, CURL* easy)
      : multi_(multi), easy_(easy), code_(curl_multi_add_handle(multi, easy)) {}
  RunningTransfer(const RunningTransfer&) = delete;
  RunningTransfer& operator=(const RunningTransfer&) = delete;
  ~RunningTransfer() { curl_multi_remove_handle(multi_, easy_); }  // Closes a half-used connection.

  [[nodiscard]] bool is_running() const noexcept { return code_ == CURLM_OK; }

 private:
  CURLM* multi_;
  CURL* easy_;
  CURLMcode code_;
};

}  // namespace

CurlTransfer::CurlTransfer(const TransferOptions& options)
    : answer_bytes_max_(options.answer_bytes_max), may_use_proxy_(!options.must_go_direct) {}

CurlTransfer::~CurlTransfer() {
  const SigpipeGuard no_sigpipe;  // Connections are closed here.
  easy_.reset();
  multi_.reset();
}

Result<std::unique_ptr<CurlTransfer>> CurlTransfer::make(const TransferOptions& options) {
  std::unique_ptr<CurlTransfer> transfer(new CurlTransfer(options));
  if (!is_libcurl_ready() || !transfer->set_up(options)) {
    return Status(StatusCode::kInternal,
                  "libcurl cannot be set up: out of memory, or it was built "
                  "without something that is needed")
        .with_execution(Execution::kNo);
  }
  return transfer;
}

bool CurlTransfer::set_up(const TransferOptions& options) {
  multi_.reset(curl_multi_init());
  easy_.reset(curl_easy_init());
  if (!multi_ || !easy_) {
    return false;
  }
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, 1L);
  set_request(options);
  set_security(options);
  set_connection(options);
  set_callbacks();
  // "Expect:" with nothing behind it: the header is left out. With it libcurl would wait a second
  // for a server that does not know it. The same for the type that libcurl gives each POST.
  return are_options_set_ && add_header("Authorization: Bearer " + options.token) &&
         add_header("Content-Type: application/json") && add_header("Expect:");
}

void CurlTransfer::abandon(const CurlTransfer& transfer) noexcept {
  for (const curl_socket_t descriptor : transfer.sockets_) {
    ::close(descriptor);  // The parent's copy stays open.
  }
}

template <typename Value>
void CurlTransfer::set(CURLoption option, Value value) {
  are_options_set_ = curl_easy_setopt(easy_.get(), option, value) == CURLE_OK && are_options_set_;
}

bool CurlTransfer::add_header(const std::string& line) {
  curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
  if (longer == nullptr) {
    return false;
  }
  static_cast<void>(headers_.release());  // It is a part of the longer one.
  headers_.reset(longer);
  set(CURLOPT_HTTPHEADER, headers_.get());
  return are_options_set_;
}

void CurlTransfer::set_request(const TransferOptions& options) {
  set(CURLOPT_URL, options.url.c_str());
  set(CURLOPT_POST, 1L);
  set(CURLOPT_USERAGENT, "spillway/" SPILLWAY_VERSION);
  set(CURLOPT_ACCEPT_ENCODING, "");  // Whatever this libcurl can unpack.
  set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(options.answer_bytes_max));
  // One request at a time: a second version of the protocol would bring no speed, only its own
  // ways to fail (GOAWAY, streams refused).
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
}

void CurlTransfer::set_security(const TransferOptions& options) {
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));  // No proxy gets the token.
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (options.must_go_direct) {
    set(CURLOPT_PROXY, "");  // Not "none known": the environment is not asked either.
  }
  if (!options.ca_file.empty()) {
    set(CURLOPT_CAINFO, options.ca_file.c_str());
  }
}

void CurlTransfer::set_connection(const TransferOptions& options) {
  const auto lifetime = static_cast<long>(options.connection_lifetime.count());
  set(CURLOPT_NOSIGNAL, 1L);
  // A look-up that hangs is left to end by itself, in a thread of libcurl's. Without this, ending
  // a transfer would wait for it.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, as_long(options.connect_timeout));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 15L);
  set(CURLOPT_TCP_KEEPINTVL, 15L);
  set(CURLOPT_MAXLIFETIME_CONN, lifetime);
  set(CURLOPT_MAXAGE_CONN, lifetime);
}

void CurlTransfer::set_callbacks() {
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_READFUNCTION, &on_read);
  set(CURLOPT_READDATA, this);
  set(CURLOPT_WRITEFUNCTION, &on_write);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_PREREQFUNCTION, &on_request);
  set(CURLOPT_PREREQDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, &on_socket);
  set(CURLOPT_OPENSOCKETDATA, this);
  set(CURLOPT_CLOSESOCKETFUNCTION, &on_close);
  set(CURLOPT_CLOSESOCKETDATA, this);
}

TransferOutcome CurlTransfer::post(std::string_view body, std::chrono::milliseconds timeout,
                                   const std::stop_token& cancel, ConnectionUse use) {
  const SigpipeGuard no_sigpipe;
  outcome_ = {};
  outcome_.answer_bytes_max = answer_bytes_max_;
  unsent_ = body;
  has_opened_socket_ = false;
  has_begun_sending_ = false;
  error_text_.fill('\0');
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  set(CURLOPT_TIMEOUT_MS, as_long(timeout));
  set(CURLOPT_FRESH_CONNECT, use == ConnectionUse::kFresh ? 1L : 0L);
  note_end(run(cancel));
  return std::move(outcome_);
}

void CurlTransfer::note_end(CURLcode code) {
  long http_status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &http_status);
  outcome_.code = code;
  outcome_.what = error_text_[0] != '\0' ? error_text_.data() : curl_easy_strerror(code);
  outcome_.http_status = static_cast<int>(http_status);
  outcome_.may_name_user = code != CURLE_OK && may_use_proxy_ && has_proxy_user();
  outcome_.is_sent = has_begun_sending_ && unsent_.empty();
}

CURLcode CurlTransfer::run(const std::stop_token& cancel) {
  const std::stop_callback wake(cancel, [this] { curl_multi_wakeup(multi_.get()); });
  const RunningTransfer running(multi_.get(), easy_.get());
  if (!running.is_running()) {
    return CURLE_FAILED_INIT;
  }
  while (!cancel.stop_requested()) {
    if (const auto code = advance()) {
      return *code;
    }
    if (curl_multi_poll(multi_.get(), nullptr, 0, kPollMs, nullptr) != CURLM_OK) {
      return CURLE_FAILED_INIT;
    }
  }
  outcome_.is_cancelled = true;
  return CURLE_ABORTED_BY_CALLBACK;
}

/// Does what can be done without waiting. Empty: there is more to come.
std::optional<CURLcode> CurlTransfer::advance() {
  int running = 0;
  if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) {
    return CURLE_FAILED_INIT;
  }
  int left = 0;
  const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left);
  return message == nullptr ? std::optional<CURLcode>() : message->data.result;
}

// When a kept connection turns out to be dead, libcurl would send the request again on a new one,
// although the server may have executed it. It asks here before each sending: once is enough. (It
// cannot rewind a body that comes from a callback either, and so gives up by itself most times.)
// Source: docs/facts.md, "HTTP".
int CurlTransfer::on_request(void* self, char*, char*, int, int) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  if (!transfer.has_begun_sending_) {
    transfer.outcome_.is_on_kept_connection = !transfer.has_opened_socket_;
  }
  return transfer.has_begun_sending_ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t CurlTransfer::on_read(char* buffer, std::size_t size, std::size_t count,
                                  void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  const std::size_t bytes = transfer.unsent_.copy(buffer, size * count);
  transfer.unsent_.remove_prefix(bytes);
  transfer.has_begun_sending_ = true;
  return bytes;
}

// For a callback of libcurl's, which nothing may unwind through: ends the transfer.
std::size_t CurlTransfer::no_memory(CurlTransfer& transfer) noexcept {
  transfer.outcome_.is_out_of_memory = true;
  return 0;
}

std::size_t CurlTransfer::on_write(char* data, std::size_t size, std::size_t count,
                                   void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  std::string& body = transfer.outcome_.body;
  const std::size_t bytes = size * count;
  transfer.outcome_.is_answer_too_large = bytes > transfer.answer_bytes_max_ - body.size();
  if (transfer.outcome_.is_answer_too_large) {
    return 0;  // Ends the transfer with CURLE_WRITE_ERROR.
  }
  try {
    body.append(data, bytes);
    return bytes;
  } catch (const std::exception&) {
    return no_memory(transfer);
  }
}

std::size_t CurlTransfer::on_header(char* data, std::size_t size, std::size_t count,
                                    void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  transfer.outcome_.has_answer_begun = true;
  try {
    transfer.outcome_.headers.take({data, size * count});
    return size * count;
  } catch (const std::exception&) {
    return no_memory(transfer);
  }
}

curl_socket_t CurlTransfer::on_socket(void* self, curlsocktype, curl_sockaddr* address) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  const int descriptor =
      ::socket(address->family, address->socktype | kCloseOnExec, address->protocol);
  if (kCloseOnExec == 0 && descriptor >= 0) {
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  transfer.has_opened_socket_ = true;
  transfer.outcome_.has_no_descriptor = descriptor < 0 && (errno == EMFILE || errno == ENFILE);
  if (descriptor < 0) {
    return CURL_SOCKET_BAD;
  }
  try {
    transfer.sockets_.push_back(descriptor);
    return descriptor;
  } catch (const std::exception&) {
    ::close(descriptor);
    static_cast<void>(no_memory(transfer));
    return CURL_SOCKET_BAD;
  }
}

int CurlTransfer::on_close(void* self, curl_socket_t descriptor) noexcept {
  auto& sockets = static_cast<CurlTransfer*>(self)->sockets_;
  sockets.erase(std::remove(sockets.begin(), sockets.end(), descriptor), sockets.end());
  return ::close(descriptor);
}

}  // namespace spillway
