// SPDX-License-Identifier: MIT
//
// JsonWriter: appends strict JSON to a string, without a tree in between. It places commas; the
// caller balances the brackets and gives each object member a key, which assertions check. Up to 64
// levels deep. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spillway {

class JsonWriter {
 public:
  /// `out` must outlive the writer; what it holds already stays in front.
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  /// Valid UTF-8 is kept, quotes, backslashes and controls are escaped, ill-formed parts become
  /// U+FFFD.
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::uint64_t number);
  /// The shortest text that reads back as the same number, which must be finite.
  JsonWriter& value(double number);
  JsonWriter& value(bool truth);
  JsonWriter& null();
  /// A value that is JSON already, unchanged.
  JsonWriter& json(std::string_view text) { return append_value(text); }

 private:
  enum class Bracket : std::uint8_t { kObject, kArray };

  JsonWriter& begin(Bracket bracket, char opening);
  JsonWriter& end(Bracket bracket, char closing);
  JsonWriter& append_value(std::string_view json);
  void begin_value();
  void separate();
  [[nodiscard]] bool is_in_object() const noexcept;

  std::string& out_;
  std::uint64_t objects_ = 0;  // One bit a level, the innermost lowest: 1 for an object.
  int depth_ = 0;
  bool needs_comma_ = false;
  bool has_key_ = false;  // A key was written and waits for its value.
};

}  // namespace spillway
