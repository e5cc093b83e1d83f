// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/one_line.h"

namespace spillway {
namespace {

TEST(OneLine, KeepsTextAsItIs) { EXPECT_EQ(one_line("häuser, 家, 😀 \\n"), "häuser, 家, 😀 \\n"); }

TEST(OneLine, HasASpaceForWhatEndsALineOrSteersATerminal) {
  EXPECT_EQ(one_line("a\r\nb\tc\x1b[31md\x7f"), "a  b c [31md ");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "31m"),
            " 31m");  // CSI as a C1 control
  EXPECT_EQ(one_line("a\xe2\x80\xae"
                     "b"),
            "a b");  // right-to-left override
  EXPECT_EQ(one_line("a\xe2\x80\xa8"
                     "b"),
            "a b");  // line separator
}

TEST(OneLine, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(one_line("a\x9b\xff"
                     "b"),
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b");
}

}  // namespace
}  // namespace spillway
