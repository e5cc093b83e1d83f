// SPDX-License-Identifier: MIT
//
// Arguments: a command line made ready for CLI11, which understands two things in another way than
// people expect. `--name=` takes the next argument for its value, so that an empty variable in a
// script eats an option. And `--` ends the options only as long as a command lacks a positional of
// its own; behind that it goes to the command above, and is an unexpected argument there.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace spillway {

struct Arguments {
  std::vector<std::string> options;   ///< For CLI11.
  std::vector<std::string> operands;  ///< Behind `--`: none of them is an option.
  std::string fault;                  ///< Empty: there is none.
};

/// `takes_value` says whether an option of this name ("--db") has a value behind it: that is taken
/// as it is, even `--`.
[[nodiscard]] Arguments read_arguments(const std::vector<std::string>& arguments,
                                       const std::function<bool(const std::string&)>& takes_value);

}  // namespace spillway
