// SPDX-License-Identifier: MIT
//
// RecordQueue: records in order of arrival, copied into blocks of bytes.
//
// No allocation for each record, and a size in bytes that is close to what the process pays: this
// is what a memory bound is measured against. Not thread-safe.
#pragma once

#include <spillway/record.h>

#include <cstddef>
#include <deque>
#include <string_view>
#include <vector>

namespace spillway {

class RecordQueue {
  static constexpr std::size_t kHeaderBytes = 48;

 public:
  /// What a record of these texts takes.
  [[nodiscard]] static std::size_t bytes_of(const RecordView& record) noexcept {
    return kHeaderBytes + record.context.size() + record.message.size() + fields_of(record).size();
  }

  /// Copies the record to the end. Only allocation can fail, and then nothing has changed.
  void push(const RecordView& record);
  /// Moves all of `other` to the end, in order; `other` is empty afterwards.
  void append(RecordQueue&& other);

  /// The oldest record. Its texts live until pop(). The queue must not be empty.
  [[nodiscard]] RecordView front() const noexcept;
  void pop() noexcept;

  [[nodiscard]] bool is_empty() const noexcept { return records_ == 0; }
  [[nodiscard]] std::size_t records() const noexcept { return records_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Records of level ERROR and above.
  [[nodiscard]] std::size_t errors() const noexcept { return errors_; }

 private:
  using Block = std::vector<char>;
  [[nodiscard]] static std::string_view fields_of(const RecordView& record) noexcept {
    return record.encoded_fields.empty() ? record.fields : record.encoded_fields;
  }
  // Out of the way of push, which most often needs none of it.
  [[nodiscard, gnu::cold, gnu::noinline]] Block& block_for(std::size_t needed);
  void append_block(Block&& block);

  std::deque<Block> blocks_;
  std::size_t front_offset_ = 0;  ///< Where the oldest record begins in the first block.
  std::size_t records_ = 0;
  std::size_t bytes_ = 0;
  std::size_t errors_ = 0;
};

}  // namespace spillway
