// SPDX-License-Identifier: MIT
#include "table/record.h"

#include <spillway/field.h>

#include <gtest/gtest.h>

#include "base/utf8.h"

#include <string>

namespace spillway {
namespace {

constexpr std::size_t kMegabyte = 1'000'000;

std::size_t text_bytes(const Record& record) {
  return record.context.size() + record.message.size() + record.fields.size();
}

Record record_of(std::string_view message, std::string_view fields = "") {
  return make_record({.context = "app", .message = message, .fields = fields}, 1);
}

std::string context_of(std::string_view context) {
  return make_record({.context = context, .message = "m"}, 1).context;
}

TEST(MakeRecord, TakesWhatIsStorableUnchanged) {
  const WallTime time{std::chrono::milliseconds(1'787'898'912'345)};
  const Record record = make_record({.time = time,
                                     .level = Level::kError,
                                     .context = "Zähler",
                                     .message = "5 € \n",
                                     .fields = R"({"a":1})"},
                                    42);
  EXPECT_EQ(record.time, time);
  EXPECT_EQ(record.seq, 42);
  EXPECT_EQ(record.level, Level::kError);
  EXPECT_EQ(record.context, "Zähler");
  EXPECT_EQ(record.message, "5 € \n");
  EXPECT_EQ(record.fields, R"({"a":1})");
}

TEST(MakeRecord, RepairsText) {
  const Record record = make_record({.context = "a\xff",
                                     .message = std::string_view("b\0c\x80", 4),
                                     .fields = "{\"k\":\"\xC3\"}"},
                                    1);
  EXPECT_EQ(record.context, "a\xEF\xBF\xBD");
  EXPECT_EQ(record.message,
            "b\xE2\x90\x80"
            "c\xEF\xBF\xBD");
  EXPECT_EQ(record.fields, "{\"k\":\"\xEF\xBF\xBD\"}");
}

TEST(MakeRecord, KeepsTheContextOfSpillwayItselfFree) {
  EXPECT_EQ(context_of("spillway"), "spillway_");
  EXPECT_EQ(context_of("spillway_"), "spillway_");
  EXPECT_EQ(context_of("spillway.x"), "spillway.x");
}

TEST(MakeRecord, CutsALongContext) {
  const std::string context = std::string(999, 'x') + "ü";
  EXPECT_EQ(context_of(context), std::string(999, 'x'));
}

TEST(MakeRecord, CutsAMessageThatIsTooLargeAndTellsItsSize) {
  const std::string message(3 * kMegabyte, 'x');
  const Record record = record_of(message);
  EXPECT_EQ(record.fields, R"({"original_bytes":3000000})");
  EXPECT_LE(text_bytes(record), kRowTextBytesMax);
  EXPECT_GT(record.message.size(), kRowTextBytesMax - 100);
}

TEST(MakeRecord, CutsBetweenCodePoints) {
  for (const char* start : {"", "x", "xx", "xxx"}) {
    std::string message = start;
    while (message.size() < 2 * kMegabyte) {
      message += "\xF0\x9F\x8C\x8A";
    }
    const Record record = record_of(message);
    EXPECT_TRUE(is_storable_text(record.message));
    EXPECT_EQ(record.message, message.substr(0, record.message.size()));
    EXPECT_GT(record.message.size(), kRowTextBytesMax - 100);
  }
}

TEST(MakeRecord, CutsAMessageThatGrowsTooLargeWhenItIsRepaired) {
  const std::string message(kMegabyte, '\xff');  // Three bytes each, once repaired.
  const Record record = record_of(message);
  EXPECT_EQ(record.fields, R"({"original_bytes":1000000})");
  EXPECT_LE(text_bytes(record), kRowTextBytesMax);
  EXPECT_TRUE(is_storable_text(record.message));
}

TEST(MakeRecord, PutsTheSizeIntoTheFieldsThatAreThere) {
  const std::string message(3 * kMegabyte, 'x');
  EXPECT_EQ(record_of(message, R"({"a":1})").fields, R"({"original_bytes":3000000,"a":1})");
  EXPECT_EQ(record_of(message, "{}").fields, R"({"original_bytes":3000000})");
  EXPECT_EQ(record_of(message, " { } ").fields, R"( {"original_bytes":3000000 } )");
  EXPECT_EQ(record_of(message, "[1]").fields, "[1]");
}

TEST(MakeRecord, TellsTheSizeOfAMessageOfWhichTheCallerGaveOnlyTheBeginning) {
  const RecordView view{.context = "app", .message = "abc", .message_bytes = 5'000'000'000};
  EXPECT_EQ(make_record(view, 1).message, "abc");
  EXPECT_EQ(make_record(view, 1).fields, R"({"original_bytes":5000000000})");
  const RecordView whole{.context = "app", .message = "abc", .message_bytes = 3};
  EXPECT_EQ(make_record(whole, 1).fields, "");
}

TEST(MakeRecord, ReplacesFieldsThatAreTooLarge) {
  const std::string fields = "{\"k\":\"" + std::string(2 * kMegabyte, 'x') + "\"}";
  EXPECT_EQ(record_of("short", fields).fields, R"({"original_fields_bytes":2000008})");
  EXPECT_EQ(record_of("short", fields).message, "short");
  EXPECT_EQ(record_of(std::string(2 * kMegabyte, 'm'), fields).fields,
            R"({"original_bytes":2000000,"original_fields_bytes":2000008})");
}

TEST(MakeRecord, MakesJsonOfEncodedFields) {
  const std::string megabyte(kMegabyte, 'x');
  const auto fields_of = [](std::string_view message, std::initializer_list<Field> fields) {
    FieldBuffer buffer;
    EXPECT_TRUE(encode_fields(fields, Redaction::standard(), buffer));
    const Record record = make_record(
        {.message = message, .fields = "counts for nothing", .encoded_fields = buffer.view()}, 1);
    EXPECT_LE(text_bytes(record), kRowTextBytesMax);
    return record.fields;
  };
  EXPECT_EQ(fields_of("m", {{"order", 42}, {"original_bytes", 1}}),
            R"({"order":42,"original_bytes_":1})");
  EXPECT_EQ(fields_of(megabyte + megabyte, {{"a", 1}}), R"({"original_bytes":2000000,"a":1})");
  EXPECT_EQ(fields_of(megabyte + megabyte, {{"a", megabyte}, {"b", megabyte}}),
            R"({"original_bytes":2000000,"original_fields_bytes":2000015})");
}

TEST(MakeRecord, LargeFieldsAndALargeMessageShareTheRow) {
  const std::string fields = "{\"k\":\"" + std::string(3 * kMegabyte / 2, 'x') + "\"}";
  const Record record = record_of(std::string(kMegabyte, 'm'), fields);
  EXPECT_LE(text_bytes(record), kRowTextBytesMax);
  EXPECT_GT(record.message.size(), 400'000U);
  EXPECT_EQ(record.fields.substr(0, 26), R"({"original_bytes":1000000,)");
}

}  // namespace
}  // namespace spillway
