// SPDX-License-Identifier: MIT
#include "cli/closing_line.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace spillway {
namespace {

std::uint64_t& at(LevelCounts& counts, Level level) {
  return counts[static_cast<std::size_t>(level)];
}

TEST(ClosingLine, NamesEveryTermInItsOrder) {
  Stats stats;
  stats.issued = 3;
  stats.stored = 3;
  stats.attempts = 1;
  EXPECT_EQ(closing_line(stats),
            "{\"issued\":3,\"stored\":3,\"skipped\":{},\"unreported\":0,\"in_doubt\":0,"
            "\"dead_lettered\":0,\"spooled\":0,\"pauses\":0,\"attempts\":1,\"own\":0}\n");
}

TEST(ClosingLine, AddsUpSoThatTheTermsGiveIssued) {
  Stats stats;
  stats.issued = 1000;
  stats.stored = 500;
  at(stats.skipped_reported, Level::kInfo) = 200;
  at(stats.skipped_pending, Level::kInfo) = 50;
  at(stats.skipped_pending, Level::kError) = 9;
  stats.queued = 100;
  stats.in_flight = 40;
  stats.in_doubt = 1;
  stats.dead_lettered = 60;
  stats.spooled = 40;
  stats.pauses = 2;
  stats.attempts = 7;
  stats.own = 3;
  EXPECT_EQ(
      closing_line(stats),
      "{\"issued\":1000,\"stored\":500,\"skipped\":{\"INFO\":250,\"ERROR\":9},\"unreported\":59,"
      "\"in_doubt\":141,\"dead_lettered\":60,\"spooled\":40,\"pauses\":2,\"attempts\":7,"
      "\"own\":3}\n");
}

TEST(ClosingLine, TellsWhetherEveryRecordIsInTheTableOrNamedInIt) {
  Stats stats;
  EXPECT_TRUE(is_all_accounted_for(stats));
  stats.issued = 10;
  stats.stored = 8;
  at(stats.skipped_reported, Level::kInfo) = 2;
  EXPECT_TRUE(is_all_accounted_for(stats));
  at(stats.skipped_reported, Level::kInfo) = 1;
  at(stats.skipped_pending, Level::kInfo) = 1;
  EXPECT_FALSE(is_all_accounted_for(stats));
  at(stats.skipped_pending, Level::kInfo) = 0;
  stats.in_doubt = 1;
  EXPECT_FALSE(is_all_accounted_for(stats));
}

}  // namespace
}  // namespace spillway
