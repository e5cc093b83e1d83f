// SPDX-License-Identifier: MIT
//
// Goal: an allocator that logs, as memory profilers do, neither deadlocks nor recurses without end.
// Method: this program's operator new logs through the logger whose sink it serves, on the caller's
// thread and on the sink's own.
#include <spillway/database_sink.h>

#include <spdlog/spdlog.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/sinks/spdlog_fixture.h"
#include "tests/support/replaced_new.h"
#include "tests/support/sanitizers.h"

namespace spillway::testing {
namespace {

std::atomic<spdlog::logger*> told_of_allocations{nullptr};
std::atomic<std::uint64_t> allocations{0};

}  // namespace

// Takes no memory itself: the text fits into spdlog's own buffer.
bool on_allocation(std::size_t bytes) {
  if (spdlog::logger* const log = told_of_allocations) {
    ++allocations;
    log->error("allocated {} bytes", bytes);
  }
  return true;
}

namespace {

using namespace std::chrono_literals;

using DatabaseSinkAllocator = SpdlogFixture;

TEST_F(DatabaseSinkAllocator, AnAllocatorThatLogsIsCutOffAtTheFirstStep) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  const std::string text(100'000, 'x');
  allocations = 0;
  told_of_allocations = log.get();
  for (int i = 0; i < 100; ++i) {
    log->info(text);
  }
  sink->flush(30s);
  told_of_allocations = nullptr;
  if (allocations == 0 && kHasSanitizer) {
    GTEST_SKIP() << "the sanitizer's allocator cannot be replaced";
  }
  const Stats stats = sink->close(30s);
  EXPECT_TRUE(stats.is_complete);
  EXPECT_GT(stats.reentrant, 100U);
  EXPECT_EQ(stats.issued + stats.reentrant, 100 + allocations);
  EXPECT_EQ(user_rows(), static_cast<std::int64_t>(stats.stored));
  EXPECT_EQ(number("SELECT count(*) FROM logs WHERE length(message) = 100000"), 100);
}

TEST_F(DatabaseSinkAllocator, AnAllocatorThatLogsAndFlushesDoesNotDeadlock) {
  auto sink = make_sink();
  auto log = logger_of({sink});
  log->flush_on(spdlog::level::err);
  told_of_allocations = log.get();
  log->info(std::string(100'000, 'x'));
  told_of_allocations = nullptr;
  EXPECT_TRUE(sink->close(30s).is_complete);
}

}  // namespace
}  // namespace spillway::testing
