// SPDX-License-Identifier: MIT
//
// D1HttpServer: the HTTP side of the scripted D1, on cpp-httplib: routes, envelopes, and how
// answers leave. What to do with each request it asks the D1Script.
#pragma once

#include "tests/support/d1_engine.h"
#include "tests/support/d1_script.h"
#include "tests/support/http_connection.h"

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace spillway::testing {

class D1HttpServer final : private httplib::Server {
 public:
  /// Aborts when the port is taken. All three must outlive the server.
  D1HttpServer(const ScriptedD1Options& options, D1Script& script, D1Engine& engine);
  D1HttpServer(const D1HttpServer&) = delete;
  D1HttpServer& operator=(const D1HttpServer&) = delete;
  ~D1HttpServer() override;

  [[nodiscard]] int port() const noexcept { return port_; }
  std::size_t run_late();
  void close_idle_connections();
  void ignore_open_connections();

 private:
  // An answer may be with the client before the connection has begun to wait for the next request.
  enum class Stage : std::uint8_t { kIdle, kServing, kAnswering };
  struct Live {
    HttpConnection* connection = nullptr;
    D1Decision decision = {};  // For the answer that is being made.
    Stage stage = Stage::kServing;
    bool is_unwanted = false;  // Ends when it is idle.
    bool is_ignored = false;
  };

  void listen_on_port();
  bool process_and_close_socket(socket_t fd) override;
  [[nodiscard]] bool await_request(Live& live);
  void enter(Live& live, Stage stage);
  [[nodiscard]] bool serve_one(Live& live);
  void leave(Live& live);

  void post(const httplib::Request& request, httplib::Response& response, RowShape shape);
  [[nodiscard]] D1Reply truth(const httplib::Request& request, const D1Body& body, RowShape shape,
                              const D1Fault& fault);
  [[nodiscard]] D1Reply run(const std::vector<D1Statement>& statements, RowShape shape,
                            const D1Extent& extent);
  [[nodiscard]] D1Reply refusal(const httplib::Request& request) const;
  void list(const httplib::Request& request, httplib::Response& response) const;
  void get(const httplib::Request& request, httplib::Response& response) const;
  [[nodiscard]] Live& live_of(const httplib::Request& request);

  [[nodiscard]] bool deliver(Live& live, const std::string& answer);
  [[nodiscard]] bool drip(HttpConnection& connection, std::string_view bytes,
                          std::chrono::milliseconds interval);
  [[nodiscard]] bool drip_for_ever(HttpConnection& connection, const std::string& head,
                                   std::chrono::milliseconds interval);

  const ScriptedD1Options& options_;
  D1Script& script_;
  D1Engine& engine_;
  int port_ = 0;

  std::mutex mutex_;
  std::condition_variable left_;
  std::map<int, Live> live_;  // By the connection's number. A Live stays where it is.
  int connections_ = 0;
  bool is_stopping_ = false;
  std::vector<std::vector<D1Statement>> late_;

  std::thread listener_;
};

}  // namespace spillway::testing
