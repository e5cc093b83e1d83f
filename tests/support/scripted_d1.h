// SPDX-License-Identifier: MIT
//
// ScriptedD1: a server on 127.0.0.1 that speaks D1's REST API over SQLite, and fails as told.
//
//     ScriptedD1 d1;
//     d1.add({D1Fault::lost_after(), D1Fault::overloaded()});  // The next two requests, then the
//     rest. d1.set_rule(by_chance(1, {{0.3, D1Fault::lost_after()}}));
//
// It serves POST …/database/{id}/raw and /query, GET …/database and …/database/{id}. Faults are for
// the POSTs alone: those of `add` in order, then whatever the rule says. A thread per connection;
// one request runs at a time. All members may be called from any thread. Destroying it ends
// everything at once, hanging requests too.
#pragma once

#include "tests/support/d1_fault.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spillway::testing {

struct ScriptedD1Options {
  std::string account_id = "acc";
  std::string database_id = "00000000-0000-4000-8000-000000000000";
  std::string token = "scripted-d1-token";
  std::string file = {};  ///< Of SQLite. Empty: in memory.
  int port = 0;           ///< 0: any that is free.
  /// False: bodies and statements of requests are forgotten once they are answered.
  bool keeps_requests = true;
};

struct D1Counts {
  std::size_t requests = 0;                     ///< POSTs that came in whole.
  std::size_t connections = 0;                  ///< Opened, ever.
  std::int64_t rows_written = 0;                ///< Committed.
  std::map<std::string, std::size_t> by_fault;  ///< Requests by the name of their fault.
};

class ScriptedD1 {
 public:
  /// Listens when it returns. Aborts when the port is taken: no test can go on without.
  explicit ScriptedD1(ScriptedD1Options options = {});
  ScriptedD1(const ScriptedD1&) = delete;
  ScriptedD1& operator=(const ScriptedD1&) = delete;
  ~ScriptedD1();

  [[nodiscard]] const ScriptedD1Options& options() const noexcept { return options_; }
  [[nodiscard]] int port() const noexcept;
  [[nodiscard]] std::string base_url() const;
  [[nodiscard]] std::string url() const;  ///< d1://ACCOUNT_ID/DATABASE_ID

  // --- the script -------------------------------------------------------------------------------
  void add(std::initializer_list<D1Fault> faults);
  /// For requests that no fault of `add` is left for. An empty one: the truth.
  void set_rule(D1Rule rule);
  /// From now on script and rule are for requests whose body holds `text` alone.
  void only_for(std::string text);
  /// Ends the holds and hangs of the requests that have come in so far.
  void release();
  /// Runs what D1Fault::late has put off; gives how many requests that were.
  std::size_t run_late();
  /// Closes the connections that wait for a request, and returns when they are closed.
  void close_idle_connections();
  /// What comes on the connections that are open now is not read any more, and not answered, as if
  /// something on the way had forgotten them.
  void ignore_open_connections();

  // --- what was seen ----------------------------------------------------------------------------
  /// POSTs, in the order in which they came in.
  [[nodiscard]] std::vector<D1Request> requests() const;
  /// Returns when `count` POSTs have come in; false if that takes longer than `timeout`.
  [[nodiscard]] bool wait_for_requests(
      std::size_t count, std::chrono::milliseconds timeout = std::chrono::seconds(20)) const;
  [[nodiscard]] D1Counts counts() const;
  /// The first value of the first row as text, of the database itself; "none" without a row.
  [[nodiscard]] std::string value(const std::string& sql);

 private:
  class Server;

  ScriptedD1Options options_;
  std::unique_ptr<Server> server_;
};

}  // namespace spillway::testing
