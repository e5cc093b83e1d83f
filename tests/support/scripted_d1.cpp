// SPDX-License-Identifier: MIT
#include "tests/support/scripted_d1.h"

#include "tests/support/d1_engine.h"
#include "tests/support/d1_http_server.h"
#include "tests/support/d1_script.h"

#include <utility>

namespace spillway::testing {

// In this order: the server, which uses the other two, ends first.
class ScriptedD1::Server {
 public:
  explicit Server(const ScriptedD1Options& options)
      : script(options.keeps_requests), engine(options.file), http(options, script, engine) {}

  D1Script script;
  D1Engine engine;
  D1HttpServer http;
};

ScriptedD1::ScriptedD1(ScriptedD1Options options)
    : options_(std::move(options)), server_(std::make_unique<Server>(options_)) {}

ScriptedD1::~ScriptedD1() = default;

int ScriptedD1::port() const noexcept { return server_->http.port(); }

std::string ScriptedD1::base_url() const {
  return "http://127.0.0.1:" + std::to_string(port()) + "/client/v4";
}

std::string ScriptedD1::url() const {
  return "d1://" + options_.account_id + "/" + options_.database_id;
}

void ScriptedD1::add(std::initializer_list<D1Fault> faults) { server_->script.add(faults); }

void ScriptedD1::set_rule(D1Rule rule) { server_->script.set_rule(std::move(rule)); }

void ScriptedD1::only_for(std::string text) { server_->script.only_for(std::move(text)); }

void ScriptedD1::release() { server_->script.release(); }

std::size_t ScriptedD1::run_late() { return server_->http.run_late(); }

void ScriptedD1::close_idle_connections() { server_->http.close_idle_connections(); }

void ScriptedD1::ignore_open_connections() { server_->http.ignore_open_connections(); }

std::vector<D1Request> ScriptedD1::requests() const { return server_->script.requests(); }

bool ScriptedD1::wait_for_requests(std::size_t count, std::chrono::milliseconds timeout) const {
  return server_->script.wait_for_requests(count, timeout);
}

D1Counts ScriptedD1::counts() const { return server_->script.counts(); }

std::string ScriptedD1::value(const std::string& sql) { return server_->engine.value(sql); }

}  // namespace spillway::testing
