// SPDX-License-Identifier: MIT
#include "cli/retention_config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace spillway {
namespace {

// A policy has some hundred bytes.
constexpr std::size_t kConfigBytesMax = 256 * 1024;

Status refused_config(const std::string& place, const std::string& why) {
  return {StatusCode::kInvalidArgument, place + ": " + why};
}

// "--keep-level" is keep_level. Empty: a positional.
std::string key_of(std::string_view option) {
  std::string key(option.starts_with("--") ? option.substr(2) : "");
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

const RetentionOption* option_of(std::string_view key) {
  for (const RetentionOption& option : all_retention_options()) {
    if (!key.empty() && key_of(option.name) == key) {
      return &option;
    }
  }
  return nullptr;
}

std::string unknown_key(std::string key) {
  std::string why = "'" + key + "' is no key";
  std::replace(key.begin(), key.end(), '-', '_');
  return option_of(key) == nullptr ? why + "; they are the options of --help without their dashes"
                                   : why + "; write " + key;
}

const char* expected(SettingType type) {
  switch (type) {
    case SettingType::kText:
      return "a text in quotes";
    case SettingType::kNumber:
      return "a whole number, without quotes";
    case SettingType::kNumberOrText:
      return "a whole number, or a text in quotes";
    case SettingType::kFlag:
      return "true or false";
    case SettingType::kLevels:
      break;
  }
  return "a table: [keep_level], and below it for example DEBUG = \"2d\"";
}

// Empty: the value is of another type.
std::optional<std::string> text_of(const toml::node& value, SettingType type) {
  const bool takes_number = type == SettingType::kNumber || type == SettingType::kNumberOrText;
  if (const auto* const number = value.as_integer(); number != nullptr && takes_number) {
    return std::to_string(number->get());
  }
  const auto* const text = value.as_string();
  return text != nullptr && type != SettingType::kNumber ? std::optional(text->get())
                                                         : std::nullopt;
}

// Appends the settings of one file, and keeps the first thing that is wrong with it.
class ConfigReader {
 public:
  explicit ConfigReader(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] Result<RetentionSettings> read(const toml::table& file) {
    for (const auto& [key, value] : file) {
      take(std::string(key.str()), value, key.source());
    }
    if (!status_.is_ok()) {
      return status_;
    }
    return std::move(settings_);
  }

  [[nodiscard]] std::string place(const toml::source_region& source) const {
    return name_ + ':' + std::to_string(source.begin.line);
  }

 private:
  void take(const std::string& key, const toml::node& value, const toml::source_region& source) {
    const RetentionOption* const option = option_of(key);
    if (option == nullptr) {
      fail(source, unknown_key(key));
    } else if (!option->is_for_file) {
      fail(source, key + " is for one run and stands in no file; give it on the command line");
    } else if (option->type == SettingType::kFlag && value.is_boolean()) {
      if (value.as_boolean()->get()) {
        add(*option, "", key, source);
      }
    } else if (option->type == SettingType::kLevels && value.is_table()) {
      take_levels(*option, key, *value.as_table());
    } else if (const auto text = text_of(value, option->type);
               text && option->type < SettingType::kFlag) {
      add(*option, *text, key, source);
    } else {
      fail(source, key + " is not " + expected(option->type));
    }
  }

  void take_levels(const RetentionOption& option, const std::string& key,
                   const toml::table& levels) {
    for (const auto& [level, keep] : levels) {
      const std::string name = key + '.' + std::string(level.str());
      if (const auto text = text_of(keep, SettingType::kText)) {
        add(option, std::string(level.str()) + '=' + *text, name, level.source());
      } else {
        fail(level.source(), name + " is not " + expected(SettingType::kText));
      }
    }
  }

  void add(const RetentionOption& option, std::string text, const std::string& key,
           const toml::source_region& source) {
    settings_.push_back({option.name, std::move(text), place(source) + ": " + key});
  }

  void fail(const toml::source_region& source, const std::string& why) {
    if (status_.is_ok()) {
      status_ = refused_config(place(source), why);
    }
  }

  std::string name_;
  RetentionSettings settings_;
  Status status_;
};

Status check_config_file(const struct stat& file, const std::string& place,
                         const std::string& path) {
  if (!S_ISREG(file.st_mode)) {
    return refused_config(place, "is no file");
  }
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return refused_config(place,
                          "others than its owner may write to it, and it says what is deleted; "
                          "chmod go-w " +
                              path);
  }
  if (static_cast<std::size_t>(file.st_size) > kConfigBytesMax) {
    return refused_config(place, "has more than 256 KiB");
  }
  return {};
}

}  // namespace

Result<RetentionSettings> parse_retention_config(std::string_view text, const std::string& name) {
  ConfigReader reader(name);
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return refused_config(reader.place(error.source()),
                          "is no TOML: " + std::string(error.description()));
  }
  return reader.read(parsed.table());
}

Result<RetentionSettings> read_retention_config(const std::string& path) {
  const std::string place = "--config " + path;
  // O_NONBLOCK: a FIFO without a writer would hold us up before we could refuse it.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat state {};
  if (descriptor < 0 || ::fstat(descriptor, &state) != 0) {
    return refused_config(place, "cannot be read: " + std::generic_category().message(errno));
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(::fdopen(descriptor, "r"),
                                                             &std::fclose);
  if (const Status status = check_config_file(state, place, path); !status.is_ok()) {
    return status;
  }
  std::string text(kConfigBytesMax + 1, '\0');
  text.resize(file == nullptr ? 0 : std::fread(text.data(), 1, text.size(), file.get()));
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return refused_config(place, "cannot be read");
  }
  return parse_retention_config(text, path);
}

}  // namespace spillway
