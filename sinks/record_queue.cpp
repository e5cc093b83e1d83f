// SPDX-License-Identifier: MIT
#include "sinks/record_queue.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace spillway {
namespace {

// Large enough that the cost of a block is nothing beside its records, small enough that a queue of
// a few MiB has many.
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
// A quiet program's block starts small and doubles.
constexpr std::size_t kFirstReserveBytes = std::size_t{4} << 10;

/// Stands in front of each record's texts: context, message, fields.
struct Header {
  std::int64_t time_ms;
  std::uint64_t original_bytes;
  std::uint64_t context_bytes;
  std::uint64_t message_bytes;
  std::uint64_t fields_bytes;
  Level level;
  bool has_encoded_fields;
};

Header header_of(const RecordView& record, std::size_t fields_bytes) noexcept {
  return {.time_ms = record.time.time_since_epoch().count(),
          .original_bytes = record.message_bytes,
          .context_bytes = record.context.size(),
          .message_bytes = record.message.size(),
          .fields_bytes = fields_bytes,
          .level = record.level,
          .has_encoded_fields = !record.encoded_fields.empty()};
}

Header read_header(const char* at) noexcept {
  Header header;
  std::memcpy(&header, at, sizeof header);  // The bytes before a record have no alignment.
  return header;
}

std::size_t entry_bytes(const Header& header) noexcept {
  return sizeof header + header.context_bytes + header.message_bytes + header.fields_bytes;
}

/// Gives where the next goes.
char* put(char* at, const void* data, std::size_t bytes) noexcept {
  if (bytes > 0) {
    std::memcpy(at, data, bytes);
  }
  return at + bytes;
}

void append_bytes(std::vector<char>& block, const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const char*>(data);
  block.insert(block.end(), begin, begin + bytes);
}

}  // namespace

/// A block that takes `needed` more bytes without allocating, so that a failed allocation leaves no
/// half of a record behind.
RecordQueue::Block& RecordQueue::block_for(std::size_t needed) {
  if (blocks_.empty() || blocks_.back().size() + needed > kBlockBytes) {
    Block block;
    // A large record gets no more than it needs: its block would stay half empty.
    const bool is_large = needed > kBlockBytes / 8;
    const std::size_t usual = blocks_.empty() ? kFirstReserveBytes : kBlockBytes;
    block.reserve(is_large ? needed : usual);
    blocks_.push_back(std::move(block));
  }
  Block& block = blocks_.back();
  if (block.capacity() - block.size() < needed) {
    block.reserve(std::max(std::min(2 * block.capacity(), kBlockBytes), block.size() + needed));
  }
  return block;
}

void RecordQueue::push(const RecordView& record) {
  static_assert(sizeof(Header) == kHeaderBytes);
  const std::size_t needed = bytes_of(record);
  const bool has_room =
      !blocks_.empty() && blocks_.back().capacity() - blocks_.back().size() >= needed;
  Block& block = has_room ? blocks_.back() : block_for(needed);
  const std::size_t before = block.size();
  block.resize(before + needed);
  const std::string_view fields = fields_of(record);
  const Header header = header_of(record, fields.size());
  char* at = put(block.data() + before, &header, sizeof header);
  at = put(at, record.context.data(), record.context.size());
  at = put(at, record.message.data(), record.message.size());
  put(at, fields.data(), fields.size());
  ++records_;
  bytes_ += needed;
  errors_ += record.level >= Level::kError ? 1 : 0;
}

void RecordQueue::append_block(Block&& block) {
  const bool fits = !blocks_.empty() && blocks_.back().size() + block.size() <= kBlockBytes;
  if (fits) {  // Otherwise many small arrivals would each keep a block of their own.
    append_bytes(blocks_.back(), block.data(), block.size());
  } else {
    blocks_.push_back(std::move(block));
  }
}

void RecordQueue::append(RecordQueue&& other) {
  assert(other.front_offset_ == 0 && "only a queue that nothing was taken from can be appended");
  for (Block& block : other.blocks_) {
    append_block(std::move(block));
  }
  records_ += other.records_;
  bytes_ += other.bytes_;
  errors_ += other.errors_;
  other = RecordQueue();
}

RecordView RecordQueue::front() const noexcept {
  assert(!is_empty());
  const char* const entry = blocks_.front().data() + front_offset_;
  const Header header = read_header(entry);
  const char* const context = entry + sizeof header;
  const char* const message = context + header.context_bytes;
  const std::string_view fields(message + header.message_bytes, header.fields_bytes);
  const bool is_encoded = header.has_encoded_fields;
  return {.time = WallTime(std::chrono::milliseconds(header.time_ms)),
          .level = header.level,
          .context = {context, header.context_bytes},
          .message = {message, header.message_bytes},
          .fields = is_encoded ? std::string_view() : fields,
          .message_bytes = header.original_bytes,
          .encoded_fields = is_encoded ? fields : std::string_view()};
}

void RecordQueue::pop() noexcept {
  assert(!is_empty());
  const Header header = read_header(blocks_.front().data() + front_offset_);
  const std::size_t bytes = entry_bytes(header);
  front_offset_ += bytes;
  --records_;
  bytes_ -= bytes;
  errors_ -= header.level >= Level::kError ? 1 : 0;
  if (front_offset_ == blocks_.front().size()) {
    blocks_.pop_front();
    front_offset_ = 0;
  }
}

}  // namespace spillway
