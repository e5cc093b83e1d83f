// SPDX-License-Identifier: MIT
//
// A plug-in that has Spillway in it and logs through a logger of its own, in the registry that it
// shares with its host.
#include <spillway/database_sink.h>

#include <spdlog/spdlog.h>

namespace {

constexpr const char* kName = "plugin";

}  // namespace

extern "C" void plugin_start() { spillway::database_logger_mt(kName, "sqlite:logs.db"); }

extern "C" void plugin_work() { spdlog::get(kName)->info("the plug-in worked"); }

extern "C" void plugin_stop() { spdlog::drop(kName); }
