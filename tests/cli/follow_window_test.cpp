// SPDX-License-Identifier: MIT
#include "cli/follow_window.h"

#include <gtest/gtest.h>

#include "base/time_text.h"

#include <chrono>
#include <string>

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// 2026-08-28T06:35:12.345Z
constexpr WallTime kNow{milliseconds(1'787'898'912'345)};

LogKey key_at(WallTime time, std::int64_t seq = 1) { return {time_text(time), 7, seq}; }

TEST(FollowWindow, LooksSomewhatBackBeforeItsLastLook) {
  FollowWindow window("");
  window.looked_at(kNow);
  EXPECT_EQ(window.since(seconds(15)), "2026-08-28T06:34:57.345Z");
  EXPECT_EQ(window.since(minutes(5)), "2026-08-28T06:30:12.345Z");
}

TEST(FollowWindow, NeverLooksBeforeItsFloor) {
  FollowWindow window("2026-08-28T06:35:00.000Z");
  window.looked_at(kNow);
  EXPECT_EQ(window.since(minutes(5)), "2026-08-28T06:35:00.000Z");
  EXPECT_FALSE(window.note(key_at(kNow - minutes(1))));
}

TEST(FollowWindow, ShowsARowOnceThoughItIsReadAgain) {
  FollowWindow window("");
  EXPECT_TRUE(window.note(key_at(kNow)));
  window.looked_at(kNow);
  EXPECT_FALSE(window.note(key_at(kNow)));
  EXPECT_TRUE(window.note(key_at(kNow, 2))) << "another one of the same millisecond";
}

TEST(FollowWindow, ShowsARowThatComesLate) {
  FollowWindow window("");
  EXPECT_TRUE(window.note(key_at(kNow)));
  window.looked_at(kNow);
  EXPECT_TRUE(window.note(key_at(kNow - minutes(4))));
}

TEST(FollowWindow, ForgetsOnlyWhatNoLookReaches) {
  FollowWindow window("");
  EXPECT_TRUE(window.note(key_at(kNow)));
  window.looked_at(kNow + FollowWindow::kDeepOverlap);
  EXPECT_FALSE(window.note(key_at(kNow))) << "a deep look begins here";
  window.looked_at(kNow + 3 * FollowWindow::kDeepOverlap);
  EXPECT_FALSE(window.note(key_at(kNow))) << "below the floor";
}

TEST(FollowWindow, RepeatsNothingWhenTheClockIsSetBack) {
  FollowWindow window("");
  EXPECT_TRUE(window.note(key_at(kNow)));
  window.looked_at(kNow + minutes(60));
  window.looked_at(kNow);
  EXPECT_GT(window.since(FollowWindow::kDeepOverlap), key_at(kNow).created_at);
}

TEST(FollowWindow, RemembersABoundedNumberAndLooksNoFurther) {
  FollowWindow window("", 3);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(window.note(key_at(kNow + milliseconds(i))));
  }
  window.looked_at(kNow + milliseconds(4));
  const std::string since = window.since(FollowWindow::kDeepOverlap);
  EXPECT_GT(since, key_at(kNow + milliseconds(1)).created_at);
  EXPECT_LE(since, key_at(kNow + milliseconds(2)).created_at);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(window.note(key_at(kNow + milliseconds(i)))) << i;
  }
}

TEST(FollowWindow, RepeatsNothingWhereManyRowsShareAMillisecond) {
  FollowWindow window("", 2);
  for (std::int64_t seq = 1; seq <= 5; ++seq) {
    window.note(key_at(kNow, seq));
  }
  window.looked_at(kNow);
  EXPECT_GT(window.since(FollowWindow::kDeepOverlap), key_at(kNow).created_at);
}

}  // namespace
}  // namespace spillway
