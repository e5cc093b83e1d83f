// SPDX-License-Identifier: MIT
//
// What the program's exit status says; the same for every command. docs and --help list them.
#pragma once

namespace spillway {

enum class ExitCode : int {
  kDone = 0,
  kError = 1,
  kUsage = 2,        ///< Usage or configuration; told at start, before anything is read.
  kUnavailable = 6,  ///< The database did not take all of it.
};

}  // namespace spillway
