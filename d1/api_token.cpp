// SPDX-License-Identifier: MIT
#include "d1/api_token.h"

#include "base/ascii.h"
#include "base/one_line.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <system_error>

namespace spillway {
namespace {

constexpr std::string_view kAroundTokens = " \t\r\n\v\f";
constexpr std::string_view kInPlaceOfToken = "[token]";
constexpr std::string_view kBearer = "bearer ";

// Cloudflare's tokens have 40 characters, access tokens of other issuers a few thousand.
constexpr std::size_t kTokenFileBytesMax = 16 * 1024;

// A shorter piece of a token at the end of a message is more likely to be something else.
constexpr std::size_t kCutTokenBytesMin = 6;

class OpenFile {
 public:
  // O_NONBLOCK: a FIFO without a writer would hold us up before we could refuse it.
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (is_open()) {
      ::close(descriptor_);  // It was only read: nothing can be lost.
    }
  }

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

  [[nodiscard]] bool is_regular() const noexcept {
    struct stat state {};
    return ::fstat(descriptor_, &state) == 0 && S_ISREG(state.st_mode);
  }

  /// The file's text, or as much of it as shows that it is too large. Empty: cannot be read.
  [[nodiscard]] std::optional<std::string> text() const {
    std::string text;
    std::array<char, 4096> piece{};
    while (text.size() <= kTokenFileBytesMax) {
      const ssize_t bytes = ::read(descriptor_, piece.data(), piece.size());
      if (bytes < 0 && errno != EINTR) {
        return std::nullopt;
      }
      if (bytes == 0) {
        break;
      }
      text.append(piece.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    }
    return text;
  }

 private:
  int descriptor_;
};

std::string token_file_name(const std::string& path) {
  return "the token file \"" + one_line(path) + '"';
}

Status unreadable_token_file(const std::string& path, int error) {
  return {StatusCode::kConfig,
          "cannot read " + token_file_name(path) + ": " + std::generic_category().message(error)};
}

bool is_token_byte(char c) noexcept { return c > ' ' && c < 0x7f; }

void replace_all(std::string& text, std::string_view token) {
  for (std::size_t at = text.find(token); at != std::string::npos; at = text.find(token, at)) {
    text.replace(at, token.size(), kInPlaceOfToken);
    at += kInPlaceOfToken.size();
  }
}

// An English word is none ("missing bearer token."); the token itself is known, also where a
// message was cut within it.
bool may_be_token(std::string_view word, std::string_view token) {
  constexpr std::size_t kWordBytesMax = 15;
  word = trimmed(word, ".,;:!?()");
  const bool is_word =
      word.size() <= kWordBytesMax && std::all_of(word.begin(), word.end(), is_ascii_letter);
  return !is_word || (!word.empty() && token.starts_with(word));
}

// What stands at `begin` up to a blank or a quote.
std::string_view word_at(std::string_view text, std::size_t begin) {
  const auto is_end = [](char c) { return !is_token_byte(c) || c == '"' || c == '\''; };
  const std::string_view rest = text.substr(begin);
  const auto end = std::find_if(rest.begin(), rest.end(), is_end);  // NOLINT: may be no pointer
  return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
}

void replace_after_bearer(std::string& text, std::string_view token) {
  const auto is_same = [](char a, char b) { return ascii_lower(a) == b; };
  std::size_t from = 0;
  while (true) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(from);
    const auto found = std::search(begin, text.end(), kBearer.begin(), kBearer.end(), is_same);
    if (found == text.end()) {
      return;
    }
    from = static_cast<std::size_t>(found - text.begin()) + kBearer.size();
    const std::string_view word = word_at(text, from);
    if (may_be_token(word, token)) {
      text.replace(from, word.size(), kInPlaceOfToken);
    }
  }
}

std::size_t size_without_ellipsis(std::string_view text) {
  for (const std::string_view ellipsis : {"...", "…"}) {
    if (text.ends_with(ellipsis)) {
      return text.size() - ellipsis.size();
    }
  }
  return text.size();
}

// Messages are cut to a length, and the cut may go through a token.
void replace_cut_token(std::string& text, std::string_view token) {
  const std::size_t end = size_without_ellipsis(text);
  for (std::size_t size = std::min(token.size(), end); size >= kCutTokenBytesMin; --size) {
    if (text.compare(end - size, size, token, 0, size) == 0) {
      text.replace(end - size, size, kInPlaceOfToken);
      return;
    }
  }
}

}  // namespace

Result<std::string> usable_token(std::string_view text, std::string_view source) {
  text = trimmed(text, kAroundTokens);
  if (text.empty()) {
    return Status(StatusCode::kConfig, std::string(source) + " holds no token");
  }
  if (!std::all_of(text.begin(), text.end(), is_token_byte)) {
    return Status(StatusCode::kConfig,
                  std::string(source) +
                      " does not hold a token alone: it has a blank, a line end or a character "
                      "outside ASCII in it");
  }
  return std::string(text);
}

Result<std::string> read_token_file(const std::string& path) {
  const OpenFile file(path);
  if (!file.is_open()) {
    return unreadable_token_file(path, errno);
  }
  if (!file.is_regular()) {
    return Status(StatusCode::kConfig, token_file_name(path) +
                                           " is not a regular file; it is read anew each time the "
                                           "database is opened");
  }
  const std::optional<std::string> text = file.text();
  if (!text) {
    return unreadable_token_file(path, errno);
  }
  if (text->size() > kTokenFileBytesMax) {
    return Status(StatusCode::kConfig, token_file_name(path) + " is too large to hold a token");
  }
  return usable_token(*text, token_file_name(path));
}

std::string without_token(std::string text, std::string_view token) {
  if (!token.empty()) {
    replace_all(text, token);
    replace_cut_token(text, token);
  }
  replace_after_bearer(text, token);
  return text;
}

Status without_token(const Status& status, std::string_view token) {
  Status clean = status.with_message(without_token(status.message(), token));
  return status.cause() == nullptr ? clean
                                   : clean.with_cause(without_token(*status.cause(), token));
}

}  // namespace spillway
