// SPDX-License-Identifier: MIT
#include <spillway/scoped_context.h>

#include <spillway/logger.h>

namespace spillway {
namespace {

// A plain pointer: a thread may log until its very end, when objects of its own are gone.
thread_local const ScopedContext* innermost = nullptr;

}  // namespace

ScopedContext::ScopedContext(std::initializer_list<Field> fields) noexcept : before_(innermost) {
  add(fields, Redaction::standard());
}

ScopedContext::ScopedContext(const Logger& logger, std::initializer_list<Field> fields) noexcept
    : before_(innermost) {
  add(fields, logger.redaction());
}

ScopedContext::ScopedContext(const CapturedContext& context) noexcept : before_(innermost) {
  try {
    encoded_ = context.encoded_;
    innermost = this;
  } catch (...) {  // No memory. What is logged does not matter less without the context.
  }
}

ScopedContext::~ScopedContext() { innermost = before_; }

void ScopedContext::add(std::initializer_list<Field> fields, const Redaction& redaction) noexcept {
  FieldBuffer buffer;
  buffer.append(current_fields());
  encode_fields(fields, redaction, buffer);
  try {
    encoded_ = buffer.view();
    innermost = this;
  } catch (...) {  // As above.
  }
}

CapturedContext ScopedContext::current() {
  CapturedContext captured;
  captured.encoded_ = current_fields();
  return captured;
}

std::string_view ScopedContext::current_fields() noexcept {
  return innermost == nullptr ? std::string_view() : innermost->encoded_;
}

}  // namespace spillway
