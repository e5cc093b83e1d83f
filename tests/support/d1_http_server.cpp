// SPDX-License-Identifier: MIT
#include "tests/support/d1_http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <memory>
#include <utility>

// For the thread sanitizer, where there is one. The statics of cpp-httplib are made by whichever
// request comes first, behind a guard that it does not see in a library built without it.
extern "C" const char* __tsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "called_from_lib:libcpp-httplib.so\n";
}

namespace spillway::testing {
namespace {

constexpr const char* kRoot = R"(/client/v4/accounts/([^/]+)/d1/database)";

// A hanging request must not keep others waiting, however many hang.
class ThreadPerConnection final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> serve) override {
    threads_.remove_if([](Task& task) { return task.join_if_done(); });
    threads_.emplace_back(std::move(serve));
  }
  void shutdown() override { threads_.clear(); }

 private:
  class Task {
   public:
    explicit Task(std::function<void()> serve)
        : thread_([this, serve = std::move(serve)] {
            serve();
            is_done_ = true;
          }) {}
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() {
      if (thread_.joinable()) {
        thread_.join();
      }
    }
    bool join_if_done() { return is_done_; }

   private:
    std::atomic<bool> is_done_{false};
    std::thread thread_;  // Last: it uses the rest.
  };

  std::list<Task> threads_;
};

D1Reply failure(int status, int code, const std::string& message) {
  return *D1Fault::error(status, code, message).reply;
}

D1Reply success(const std::string& result) {
  return {200, R"({"result":)" + result + R"(,"success":true,"errors":[],"messages":[]})"};
}

HttpHeaders headers_of(const httplib::Request& request) {
  HttpHeaders headers(request.headers.begin(), request.headers.end());
  // Made up by cpp-httplib: they were not sent.
  std::erase_if(headers, [](const auto& header) {
    return header.first.starts_with("REMOTE_") || header.first.starts_with("LOCAL_");
  });
  return headers;
}

D1Reply echo_of(const httplib::Request& request) {
  std::string text = "Authentication error:";
  for (const auto& [name, value] : headers_of(request)) {
    text.append(" ").append(name).append(": ").append(value).append(";");
  }
  return failure(401, 10000, text);
}

void fill(httplib::Response& response, const D1Reply& reply, const HttpHeaders& headers = {}) {
  response.status = reply.status;
  if (!reply.body.empty()) {
    response.set_content(reply.body, reply.type);
  }
  for (const auto& [name, value] : headers) {
    response.set_header(name, value);
  }
}

// Where the body begins.
std::size_t head_size(std::string_view answer) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  return std::min(answer.find(kEnd), answer.size() - kEnd.size()) + kEnd.size();
}

// The head of an answer whose length is not told.
std::string chunked_head(std::string_view answer) {
  std::string head(answer.substr(0, head_size(answer) - 2));
  const std::size_t begin = head.find("Content-Length:");
  if (begin != std::string::npos) {
    head.erase(begin, head.find("\r\n", begin) + 2 - begin);
  }
  return head + "Transfer-Encoding: chunked\r\n\r\n";
}

}  // namespace

D1HttpServer::D1HttpServer(const ScriptedD1Options& options, D1Script& script, D1Engine& engine)
    : options_(options), script_(script), engine_(engine) {
  new_task_queue = [] { return std::make_unique<ThreadPerConnection>().release(); };
  const std::string root = kRoot;
  Post(root + "/([^/]+)/raw", [this](const httplib::Request& request, httplib::Response& response) {
    post(request, response, RowShape::kArrays);
  });
  Post(root + "/([^/]+)/query",
       [this](const httplib::Request& request, httplib::Response& response) {
         post(request, response, RowShape::kObjects);
       });
  Get(root, [this](const httplib::Request& request, httplib::Response& response) {
    list(request, response);
  });
  Get(root + "/([^/]+)", [this](const httplib::Request& request, httplib::Response& response) {
    get(request, response);
  });
  const auto nowhere = [](const httplib::Request& request, httplib::Response& response) {
    fill(response, failure(404, 7003,
                           "Could not route to " + request.path +
                               ", perhaps your object identifier is invalid?"));
  };
  Get(".*", nowhere);
  Post(".*", nowhere);
  listen_on_port();
}

void D1HttpServer::listen_on_port() {
  constexpr const char* kHost = "127.0.0.1";
  port_ = options_.port == 0 ? bind_to_any_port(kHost)
                             : (bind_to_port(kHost, options_.port) ? options_.port : -1);
  if (port_ <= 0) {
    static_cast<void>(
        std::fprintf(stderr, "the scripted D1 cannot listen on port %d\n", options_.port));
    std::abort();
  }
  // cpp-httplib's backlog of 5 makes the sixth of many clients wait for a second.
  constexpr int kBacklog = 256;
  ::listen(svr_sock_, kBacklog);
  listener_ = std::thread([this] { listen_after_bind(); });
  while (!is_running()) {  // `stop` does nothing before.
    std::this_thread::yield();
  }
}

D1HttpServer::~D1HttpServer() {
  script_.stop();
  engine_.stop();
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    for (const auto& [number, live] : live_) {
      live.connection->wake();
    }
  }
  stop();
  listener_.join();
}

// Connections.

bool D1HttpServer::process_and_close_socket(socket_t fd) {
  script_.count_connection();
  std::unique_lock lock(mutex_);
  HttpConnection connection(fd, ++connections_);
  Live& live = live_[connection.number()];
  live.connection = &connection;
  if (is_stopping_) {
    connection.wake();
  }
  lock.unlock();
  while (await_request(live) && serve_one(live)) {
  }
  leave(live);
  return true;
}

void D1HttpServer::enter(Live& live, Stage stage) {
  const std::lock_guard lock(mutex_);
  live.stage = stage;
  if (stage == Stage::kIdle && live.is_unwanted) {
    live.connection->wake();
  }
}

bool D1HttpServer::await_request(Live& live) {
  enter(live, Stage::kIdle);
  const bool has_come = live.connection->wait_for_request();
  enter(live, Stage::kServing);
  if (std::unique_lock lock(mutex_); live.is_ignored) {
    lock.unlock();
    while (script_.pause(std::chrono::hours(1))) {
    }
    return false;
  }
  return has_come;
}

bool D1HttpServer::serve_one(Live& live) {
  live.decision = {};
  bool is_last = false;
  const bool is_whole = process_request(*live.connection, false, is_last, nullptr);
  const std::string answer = live.connection->take_answer();
  return deliver(live, answer) && is_whole && !is_last;
}

void D1HttpServer::leave(Live& live) {
  const std::lock_guard lock(mutex_);
  live_.erase(live.connection->number());
  left_.notify_all();
}

void D1HttpServer::close_idle_connections() {
  std::unique_lock lock(mutex_);
  std::vector<int> closed;
  for (auto& [number, live] : live_) {
    if (live.stage == Stage::kIdle) {
      live.connection->wake();
    }
    live.is_unwanted = live.stage == Stage::kAnswering;
    if (live.stage != Stage::kServing) {
      closed.push_back(number);
    }
  }
  left_.wait(lock, [&] {
    return std::none_of(closed.begin(), closed.end(),
                        [&](int number) { return live_.contains(number); });
  });
}

void D1HttpServer::ignore_open_connections() {
  const std::lock_guard lock(mutex_);
  for (auto& [number, live] : live_) {
    live.is_ignored = true;
  }
}

D1HttpServer::Live& D1HttpServer::live_of(const httplib::Request& request) {
  const std::lock_guard lock(mutex_);
  return live_.at(request.remote_port);
}

// Requests.

void D1HttpServer::post(const httplib::Request& request, httplib::Response& response,
                        RowShape shape) {
  Live& live = live_of(request);
  const D1Body body = parse_d1_body(request.body);
  live.decision = script_.take({.arrived = std::chrono::steady_clock::now(),
                                .connection = live.connection->number(),
                                .method = request.method,
                                .path = request.path,
                                .headers = headers_of(request),
                                .body = request.body,
                                .statements = body.statements});
  live.connection->keep_answer();
  const D1Fault& fault = live.decision.fault;
  if (fault.hold == D1Fault::Hold::kBeforeRun) {
    static_cast<void>(script_.wait(live.decision, fault.hold_time));
  }
  D1Reply reply = truth(request, body, shape, fault);
  if (fault.hold == D1Fault::Hold::kAfterRun) {
    static_cast<void>(script_.wait(live.decision, fault.hold_time));
  }
  if (fault.does_echo) {
    reply = echo_of(request);
  }
  fill(response, reply, fault.headers);
}

D1Reply D1HttpServer::truth(const httplib::Request& request, const D1Body& body, RowShape shape,
                            const D1Fault& fault) {
  D1Reply reply = refusal(request);
  if (reply.status == 200 && body.code != 0) {
    reply = failure(400, body.code, body.error);
  }
  if (reply.status == 200 && fault.run == D1Fault::Run::kNow) {
    reply = run(body.statements, shape, fault.extent);
  }
  if (reply.status == 200 && fault.run == D1Fault::Run::kLater) {
    const std::lock_guard lock(mutex_);
    late_.push_back(body.statements);
  }
  return fault.reply.value_or(reply);
}

D1Reply D1HttpServer::run(const std::vector<D1Statement>& statements, RowShape shape,
                          const D1Extent& extent) {
  const D1Answer answer = engine_.run(statements, shape, extent);
  script_.count_rows(answer.rows_written);
  return answer.error.empty() ? success(answer.results) : failure(400, 7500, answer.error);
}

std::size_t D1HttpServer::run_late() {
  std::vector<std::vector<D1Statement>> late;
  {
    const std::lock_guard lock(mutex_);
    late.swap(late_);
  }
  for (const std::vector<D1Statement>& statements : late) {
    static_cast<void>(run(statements, RowShape::kArrays, {}));
  }
  return late.size();
}

// Status 200 if the request may go on.
D1Reply D1HttpServer::refusal(const httplib::Request& request) const {
  if (request.get_header_value("Authorization") != "Bearer " + options_.token) {
    return failure(401, 10000, "Authentication error");
  }
  if (request.matches[1] != options_.account_id) {
    return failure(403, 7403,
                   "The given account is not valid or is not authorized to access this service");
  }
  const std::string database = request.matches.size() > 2 ? request.matches[2].str() : "";
  if (!database.empty() && database != options_.database_id) {
    return failure(404, 7404, "The database " + database + " could not be found");
  }
  return {200, ""};
}

void D1HttpServer::list(const httplib::Request& request, httplib::Response& response) const {
  const D1Reply refused = refusal(request);
  fill(response, refused.status == 200 ? success(R"([{"uuid":")" + options_.database_id +
                                                 R"(","name":"scripted","version":"production"}])")
                                       : refused);
}

void D1HttpServer::get(const httplib::Request& request, httplib::Response& response) const {
  const D1Reply refused = refusal(request);
  fill(response, refused.status == 200 ? success(R"({"uuid":")" + options_.database_id +
                                                 R"(","name":"scripted","version":"production"})")
                                       : refused);
}

// Answers.

// True if the connection goes on.
bool D1HttpServer::deliver(Live& live, const std::string& answer) {
  HttpConnection& connection = *live.connection;
  const D1Fault& fault = live.decision.fault;
  const std::string_view bytes = answer;
  switch (fault.leave) {
    case D1Fault::Leave::kWhole:
      enter(live, Stage::kAnswering);
      return connection.send(bytes);
    case D1Fault::Leave::kClose:
      return false;
    case D1Fault::Leave::kReset:
      connection.set_end(HttpConnection::End::kReset);
      return false;
    case D1Fault::Leave::kCut:
      connection.send(bytes.substr(0, head_size(bytes) + fault.bytes));
      return false;
    case D1Fault::Leave::kSlow:
      return connection.send(bytes.substr(0, head_size(bytes))) &&
             drip(connection, bytes.substr(head_size(bytes)), fault.interval);
    case D1Fault::Leave::kEndless:
      return drip_for_ever(connection, chunked_head(bytes), fault.interval);
    case D1Fault::Leave::kHang:
      static_cast<void>(script_.wait(live.decision, std::nullopt));
      return false;
  }
  return false;
}

bool D1HttpServer::drip(HttpConnection& connection, std::string_view bytes,
                        std::chrono::milliseconds interval) {
  return std::all_of(bytes.begin(), bytes.end(), [&](char byte) {
    return script_.pause(interval) && connection.send({&byte, 1});
  });
}

bool D1HttpServer::drip_for_ever(HttpConnection& connection, const std::string& head,
                                 std::chrono::milliseconds interval) {
  bool goes_on = connection.send(head);
  while (goes_on) {
    goes_on = script_.pause(interval) && connection.send("1\r\n \r\n");
  }
  return false;
}

}  // namespace spillway::testing
