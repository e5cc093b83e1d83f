// SPDX-License-Identifier: MIT
//
// lifecycle_globals: logs from main, from an atexit handler and, after main, from the destructor of
// an object of namespace scope. It is linked twice, with those objects in either order.
#include "tests/sinks/lifecycle/globals.h"

#include <cstdlib>

int main() {
  global_service.log = global_logger;
  if (std::atexit([] { global_service.log->info("atexit"); }) != 0) {
    return 1;
  }
  global_logger->info("main");
}
