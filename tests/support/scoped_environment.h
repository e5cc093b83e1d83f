// SPDX-License-Identifier: MIT
//
// ScopedEnvironment: environment variables as a test wants them, and afterwards as they were. No
// other thread may look at the environment meanwhile.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {

class ScopedEnvironment {
 public:
  /// An empty value unsets the variable.
  ScopedEnvironment(std::initializer_list<std::pair<const char*, std::string>> variables) {
    for (const auto& [name, value] : variables) {
      const char* const before = ::getenv(name);  // NOLINT(concurrency-mt-unsafe): said above.
      before_.emplace_back(name, before == nullptr ? std::optional<std::string>() : before);
      set(name, value.empty() ? std::optional<std::string>() : value);
    }
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment() {
    for (const auto& [name, value] : before_) {
      set(name, value);
    }
  }

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    // NOLINTBEGIN(concurrency-mt-unsafe): said above.
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
    // NOLINTEND(concurrency-mt-unsafe)
  }

  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

}  // namespace spillway::testing
