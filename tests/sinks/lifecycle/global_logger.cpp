// SPDX-License-Identifier: MIT
//
// The logger of lifecycle_globals, an object of namespace scope: made before main, destroyed after
// it.
#include "tests/sinks/lifecycle/globals.h"

#include <spillway/database_sink.h>

std::shared_ptr<spdlog::logger> global_logger =
    spillway::database_logger_mt("app", "sqlite:logs.db");
