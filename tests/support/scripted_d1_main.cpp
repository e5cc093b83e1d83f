// SPDX-License-Identifier: MIT
//
// scripted-d1: a D1 on this machine that fails as the options say, for looking at programs from
// outside. Prints "ready http://127.0.0.1:PORT"; on SIGTERM or SIGINT prints what it has seen as
// JSON, and ends. SIGUSR1: overloaded from now on; SIGUSR2: not any more.
#include <CLI/CLI.hpp>

#include "base/json_writer.h"
#include "tests/support/scripted_d1.h"

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX's

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>

namespace {

using spillway::JsonWriter;
using spillway::SteadyTime;
using spillway::testing::by_chance;
using spillway::testing::D1Counts;
using spillway::testing::D1Fault;
using spillway::testing::D1Request;
using spillway::testing::D1Rule;
using spillway::testing::html_reply;
using spillway::testing::ScriptedD1;
using spillway::testing::ScriptedD1Options;

struct Options {
  ScriptedD1Options server;
  std::string only_for;
  double overload_after = 0;
  double overload_for = 0;
  double lost_before_commit = 0;
  double lost_after_commit = 0;
  double html_after_commit = 0;
  double cut = 0;
  std::uint64_t seed = 1;
};

void add_share(CLI::App& app, const char* name, double& share, const char* help) {
  app.add_option(name, share, help)->check(CLI::Range(0.0, 1.0));
}

void add_time(CLI::App& app, const char* name, double& seconds, const char* help) {
  app.add_option(name, seconds, help)
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"ms", 0.001}, {"s", 1}}));
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--port", options.server.port, "0: any that is free");
  app.add_option("--database", options.server.file, "SQLite file; without it, in memory");
  app.add_option("--account", options.server.account_id, "Account ID")->capture_default_str();
  app.add_option("--id", options.server.database_id, "Database ID")->capture_default_str();
  app.add_option("--token", options.server.token, "Bearer token")->capture_default_str();
  app.add_option("--only-for", options.only_for, "Faults for requests that hold this text alone");
  add_time(app, "--overload-after", options.overload_after, "Counted from the first request");
  add_time(app, "--overload-for", options.overload_for, "Overloaded for that long");
  add_share(app, "--lost-before-commit", options.lost_before_commit, "Share, not executed");
  add_share(app, "--lost-after-commit", options.lost_after_commit, "Share, executed");
  add_share(app, "--html-after-commit", options.html_after_commit, "Share, executed");
  add_share(app, "--cut", options.cut, "Share, executed, with half an answer");
  app.add_option("--seed", options.seed, "Of the shares")->capture_default_str();
}

D1Rule chances(const Options& options) {
  constexpr std::size_t kCutBytes = 60;
  return by_chance(options.seed, {{options.lost_before_commit, D1Fault::lost_before()},
                                  {options.lost_after_commit, D1Fault::lost_after()},
                                  {options.html_after_commit,
                                   D1Fault::masked(html_reply(502)).named("html_after_commit")},
                                  {options.cut, D1Fault::cut(kCutBytes)}});
}

// Overloaded for a while, counted from the first request; the shares before and after.
D1Rule rule_of(const Options& options) {
  using Seconds = std::chrono::duration<double>;
  const auto first = std::make_shared<SteadyTime>();  // A std::function is copied.
  const Seconds begin(options.overload_after);
  const Seconds end = begin + Seconds(options.overload_for);
  return [=, chance = chances(options)](const D1Request& request) {
    if (*first == SteadyTime()) {
      *first = request.arrived;
    }
    const Seconds passed = request.arrived - *first;
    return passed >= begin && passed < end ? D1Fault::overloaded() : chance(request);
  };
}

std::string json_of(const D1Counts& counts) {
  std::string json;
  JsonWriter writer(json);
  writer.begin_object().key("requests").value(std::uint64_t{counts.requests});
  writer.key("connections").value(std::uint64_t{counts.connections});
  writer.key("rows_written").value(counts.rows_written);
  writer.key("by_fault").begin_object();
  for (const auto& [name, count] : counts.by_fault) {
    writer.key(name).value(std::uint64_t{count});
  }
  writer.end_object().end_object();
  return json;
}

// Until it is to end.
void obey_signals(const sigset_t& signals, ScriptedD1& d1, const D1Rule& rule) {
  for (int signal = 0; signal != SIGTERM && signal != SIGINT;) {
    sigwait(&signals, &signal);
    if (signal == SIGUSR1) {
      d1.set_rule([](const D1Request& /*request*/) { return D1Fault::overloaded(); });
    } else if (signal == SIGUSR2) {
      d1.set_rule(rule);
    }
  }
}

int serve(int argc, char** argv) {
  CLI::App app("A D1 on this machine that fails as told.", "scripted-d1");
  Options options;
  options.server.keeps_requests = false;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);

  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) {
    sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // Before the server's threads: they inherit it.

  ScriptedD1 d1(options.server);
  const D1Rule rule = rule_of(options);
  d1.only_for(options.only_for);
  d1.set_rule(rule);
  std::cout << "ready http://127.0.0.1:" << d1.port() << std::endl;
  obey_signals(signals, d1, rule);
  std::cout << json_of(d1.counts()) << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return serve(argc, argv);
  } catch (const std::exception& exception) {  // Of CLI11 and of the library: out of memory.
    static_cast<void>(std::fputs(exception.what(), stderr));
    return 1;
  }
}
