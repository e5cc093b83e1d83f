// SPDX-License-Identifier: MIT
//
// ScopedContext: fields of everything that this thread logs while the object lives, through
// whichever Logger.
//
//   spillway::ScopedContext request({{"request", id}});
//
// Contexts may stand within each other, as scopes do; the inner one's fields come later, and so
// count when names are equal. Another thread has none of it, unless it is handed over:
//
//   pool.run([context = spillway::ScopedContext::current()] {
//     spillway::ScopedContext request(context);
//     …
//   });
#pragma once

#include <spillway/field.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace spillway {

class Logger;

/// The context of a thread at one time, for another. It owns its texts.
class CapturedContext {
 public:
  CapturedContext() = default;

 private:
  friend class ScopedContext;
  std::string encoded_;
};

/// A local variable: it must end on the thread that made it, and before those that stood there when
/// it began. Without memory it adds nothing.
class ScopedContext {
 public:
  /// Values of secret names are redacted by the standard list …
  explicit ScopedContext(std::initializer_list<Field> fields) noexcept;
  /// … or by that of `logger`.
  ScopedContext(const Logger& logger, std::initializer_list<Field> fields) noexcept;
  /// In place of the thread's own context.
  explicit ScopedContext(const CapturedContext& context) noexcept;
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
  ~ScopedContext();

  /// A copy of this thread's context. Throws only std::bad_alloc.
  [[nodiscard]] static CapturedContext current();
  /// Its fields, as they are encoded. They live as long as the context.
  [[nodiscard]] static std::string_view current_fields() noexcept;

 private:
  void add(std::initializer_list<Field> fields, const Redaction& redaction) noexcept;

  const ScopedContext* const before_;
  std::string encoded_;  ///< With what was there before.
};

}  // namespace spillway
