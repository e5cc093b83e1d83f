// SPDX-License-Identifier: MIT
//
// A service of lifecycle_globals, an object of namespace scope that has a logger of its own hold
// and logs when it goes.
#include "tests/sinks/lifecycle/globals.h"

GlobalService::~GlobalService() { log->info("the service goes"); }

GlobalService global_service;
