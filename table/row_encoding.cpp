// SPDX-License-Identifier: MIT
#include "table/row_encoding.h"

#include "base/json_writer.h"
#include "base/time_text.h"

#include <string>
#include <utility>

namespace spillway {
namespace {

Row row_of(std::int64_t writer, const Record& record) {
  Row row;
  row.reserve(7);
  row.emplace_back(time_text(record.time));
  row.emplace_back(writer);
  row.emplace_back(record.seq);
  row.emplace_back(std::string(to_string(record.level)));
  row.emplace_back(record.context);
  row.emplace_back(record.message);
  if (record.fields.empty()) {
    row.emplace_back(std::monostate());
  } else {
    row.emplace_back(record.fields);
  }
  return row;
}

void write_row(std::int64_t writer, const Record& record, std::string& out) {
  JsonWriter json(out);
  json.begin_array();
  json.value(time_text(record.time)).value(writer).value(record.seq).value(to_string(record.level));
  json.value(record.context).value(record.message);
  record.fields.empty() ? json.null() : json.value(record.fields);
  json.end_array();
}

// Collects rows into blocks.
class JsonBlocks {
 public:
  explicit JsonBlocks(std::size_t text_bytes_max) : text_bytes_max_(text_bytes_max) {}

  void add(std::int64_t writer, const Record& record) {
    row_.clear();
    write_row(writer, record, row_);
    constexpr std::size_t kBrackets = 2;
    if (row_.size() + kBrackets > text_bytes_max_) {
      add_columns(row_of(writer, record));
    } else {
      add_json();
    }
  }

  std::vector<RowBlock> finish() {
    close_text();
    return std::move(blocks_);
  }

 private:
  void add_json() {
    constexpr std::size_t kCommaAndBracket = 2;
    if (!text_.empty() && text_.size() + row_.size() + kCommaAndBracket > text_bytes_max_) {
      close_text();
    }
    text_ += text_.empty() ? '[' : ',';
    text_ += row_;
  }

  void add_columns(Row row) {
    close_text();
    if (blocks_.empty() || form_of(blocks_.back()) != RowForm::kColumns) {
      blocks_.emplace_back();
    }
    blocks_.back().push_back(std::move(row));
  }

  void close_text() {
    if (!text_.empty()) {
      text_ += ']';
      blocks_.emplace_back().emplace_back().emplace_back(std::exchange(text_, {}));
    }
  }

  const std::size_t text_bytes_max_;
  std::vector<RowBlock> blocks_;
  std::string text_;  // Of the block that is being filled, without its last bracket.
  std::string row_;
};

}  // namespace

RowBlock rows_as_columns(std::int64_t writer, std::span<const Record> rows) {
  RowBlock block;
  block.reserve(rows.size());
  for (const Record& record : rows) {
    block.push_back(row_of(writer, record));
  }
  return block;
}

std::vector<RowBlock> rows_as_json(std::int64_t writer, std::span<const Record> rows,
                                   std::size_t text_bytes_max) {
  JsonBlocks blocks(text_bytes_max);
  for (const Record& record : rows) {
    blocks.add(writer, record);
  }
  return blocks.finish();
}

}  // namespace spillway
