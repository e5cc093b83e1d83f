// SPDX-License-Identifier: MIT
#include "cli/arguments.h"

#include <cstddef>

namespace spillway {

Arguments read_arguments(const std::vector<std::string>& arguments,
                         const std::function<bool(const std::string&)>& takes_value) {
  Arguments read;
  bool is_value = false;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& argument = arguments[at];
    const std::string name = argument.substr(0, argument.find('='));
    if (!is_value && argument == "--") {
      read.operands.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                           arguments.end());
      return read;
    }
    if (!is_value && argument == name + '=' && takes_value(name)) {
      read.fault = argument + " has no value; to give an empty one write " + name + " ''";
      read.options.insert(read.options.end(), {name, ""});
      continue;
    }
    is_value = !is_value && takes_value(argument);
    read.options.push_back(argument);
  }
  return read;
}

}  // namespace spillway
