// SPDX-License-Identifier: MIT
#include "d1/answer_reader.h"

#include <nlohmann/json.hpp>

#include "d1/answer_value.h"
#include "d1/result_reader.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace spillway {
namespace {

using Json = nlohmann::json;
using Kind = JsonToken::Kind;

// The deepest is a chain of errors: a list and an object for each, in the envelope.
constexpr std::size_t kDepthMax = 2 * kErrorChainMax + 1;

// A token takes some 100 ns, and so the end is noticed within a millisecond.
constexpr std::size_t kTokensBetweenLooks = 4096;

// In which object or list the parser is.
enum class Place : std::uint8_t {
  kOutside,
  kEnvelope,
  kErrors,  // Or `error_chain`.
  kError,
  kMembers,
  kMember,
  kFigures,
  kResults,
  kColumns,
  kRows,
  kRow,
  kBytes,
  kSkipped,
};

enum class Key : std::uint8_t {
  kOther,
  kSuccess,
  kErrors,
  kError,
  kCode,
  kMessage,
  kErrorChain,
  kResult,
  kResults,
  kMeta,
  kColumns,
  kRows,
  kChanges,
  kLastRowId,
  kRowsRead,
  kRowsWritten,
  kDuration,
};

struct NamedKey {
  std::string_view name;
  Key key;
};

constexpr NamedKey kKeys[] = {
    {"success", Key::kSuccess},
    {"errors", Key::kErrors},
    {"error", Key::kError},
    {"code", Key::kCode},
    {"message", Key::kMessage},
    {"error_chain", Key::kErrorChain},
    {"result", Key::kResult},
    {"results", Key::kResults},
    {"meta", Key::kMeta},
    {"columns", Key::kColumns},
    {"rows", Key::kRows},
    {"changes", Key::kChanges},
    {"last_row_id", Key::kLastRowId},
    {"rows_read", Key::kRowsRead},
    {"rows_written", Key::kRowsWritten},
    {"duration", Key::kDuration},
};

Key key_named(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                         [name](const NamedKey& key) { return key.name == name; });
  return found == std::end(kKeys) ? Key::kOther : found->key;
}

// Figures of D1 may be missing; then they are 0.
std::int64_t whole_number_of(const JsonToken& token) {
  constexpr double kTooMuch = 9.2e18;
  const bool is_known = token.is_number() && std::abs(token.number) < kTooMuch;
  return is_known ? static_cast<std::int64_t>(token.number) : 0;
}

std::chrono::microseconds duration_of(const JsonToken& token) {
  constexpr double kMillisecondsMax = 1e12;
  const bool is_known = token.is_number() && token.number > 0 && token.number < kMillisecondsMax;
  return std::chrono::microseconds(is_known ? static_cast<std::int64_t>(token.number * 1000) : 0);
}

int code_of(const JsonToken& token) {
  constexpr double kMax = std::numeric_limits<int>::max();
  const bool is_code = token.kind == Kind::kWhole && token.number >= 0 && token.number <= kMax;
  return is_code ? static_cast<int>(token.number) : 0;
}

std::string text_of(const JsonToken& token) {
  return std::string(token.kind == Kind::kText ? token.text : std::string_view());
}

// Takes what nlohmann's parser finds, in the form that it asks for. A name that comes twice in an
// object counts with its last value.
class AnswerReader {
 public:
  AnswerReader(std::span<const CellForms> forms, const std::function<bool()>& is_over)
      : forms_(forms), is_over_(is_over) {}

  bool null() { return scalar({Kind::kNull}); }
  bool boolean(bool truth) { return scalar({truth ? Kind::kTrue : Kind::kFalse}); }
  bool number_integer(std::int64_t number) {
    return scalar({Kind::kWhole, static_cast<double>(number)});
  }
  bool number_unsigned(std::uint64_t number) {
    return scalar({Kind::kWhole, static_cast<double>(number)});
  }
  bool number_float(double number, const std::string&) { return scalar({Kind::kReal, number}); }
  bool string(const std::string& text) { return scalar({Kind::kText, 0, text}); }
  bool binary(const std::vector<std::uint8_t>&) { return false; }  // JSON has none.
  bool start_object(std::size_t) { return open({Kind::kObject}); }
  bool start_array(std::size_t) { return open({Kind::kList}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(const std::string& name) {
    key_ = place() == Place::kSkipped ? Key::kOther : key_named(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const std::exception&) { return false; }

  [[nodiscard]] AnswerContent content(bool is_whole) && {
    if (is_whole && is_object_) {
      content_.form = AnswerContent::Form::kObject;
    }
    return std::move(content_);
  }

 private:
  struct Level {
    Place place = Place::kOutside;
    std::size_t error = 0;  // Which one it is about, if it is an error or its causes.
  };

  [[nodiscard]] Place place() const { return depth_ == 0 ? Place::kOutside : top().place; }
  [[nodiscard]] const Level& top() const { return levels_[depth_ - 1]; }
  [[nodiscard]] Report& report() { return is_in_member_ ? member_ : content_.report; }

  bool scalar(const JsonToken& token);
  bool open(const JsonToken& token);
  bool close();
  bool give_up(AnswerContent::Form form);

  // Each takes a token in that place, and says in which place is what it begins.
  Place take(const JsonToken& token);
  Place in_envelope(const JsonToken& token);
  Place in_report(const JsonToken& token);
  Place in_errors(const JsonToken& token);
  Place in_error(const JsonToken& token);
  Place in_members(const JsonToken& token);
  Place in_member(const JsonToken& token);
  Place in_figures(const JsonToken& token);
  Place in_result(const JsonToken& token);
  Place in_results(const JsonToken& token);

  void end_member();
  void fail_member();

  std::span<const CellForms> forms_;
  const std::function<bool()>& is_over_;
  AnswerContent content_;
  bool is_object_ = false;
  std::size_t tokens_ = 0;

  std::array<Level, kDepthMax> levels_;
  std::size_t depth_ = 0;
  Key key_ = Key::kOther;
  std::size_t error_ = 0;  // That begins.

  // Of the member that is being read.
  bool is_in_member_ = false;
  Report member_;
  Meta meta_;
  ResultReader result_{kNoForms};
  static inline const CellForms kNoForms;
};

bool AnswerReader::scalar(const JsonToken& token) {
  static_cast<void>(take(token));
  return content_.form != AnswerContent::Form::kUnfinished;
}

bool AnswerReader::open(const JsonToken& token) {
  if (depth_ == kDepthMax) {
    return give_up(AnswerContent::Form::kTooDeep);
  }
  error_ = depth_ == 0 ? 0 : top().error;
  const Place inside = take(token);
  levels_[depth_++] = {inside, error_};
  return content_.form != AnswerContent::Form::kUnfinished;
}

bool AnswerReader::close() {
  switch (place()) {
    case Place::kMember:
      end_member();
      break;
    case Place::kRow:
      result_.end_row();
      break;
    case Place::kBytes:
      result_.end_bytes();
      break;
    default:
      break;
  }
  --depth_;
  return true;
}

bool AnswerReader::give_up(AnswerContent::Form form) {
  content_.form = form;
  return false;
}

Place AnswerReader::take(const JsonToken& token) {
  if (++tokens_ % kTokensBetweenLooks == 0 && is_over_ && is_over_()) {
    content_.form = AnswerContent::Form::kUnfinished;
  }
  switch (place()) {
    case Place::kOutside:
      is_object_ = token.kind == Kind::kObject;
      return is_object_ ? Place::kEnvelope : Place::kSkipped;
    case Place::kEnvelope:
      return in_envelope(token);
    case Place::kErrors:
      return in_errors(token);
    case Place::kError:
      return in_error(token);
    case Place::kMembers:
      return in_members(token);
    case Place::kMember:
      return in_member(token);
    case Place::kFigures:
      return in_figures(token);
    case Place::kSkipped:
      return Place::kSkipped;
    default:
      return in_result(token);
  }
}

Place AnswerReader::in_envelope(const JsonToken& token) {
  if (key_ != Key::kResult) {
    return in_report(token);
  }
  const bool is_list = token.kind == Kind::kList;
  content_.members = is_list ? std::optional<std::size_t>(0) : std::nullopt;
  content_.results.clear();
  content_.failed.reset();
  return is_list ? Place::kMembers : Place::kSkipped;
}

Place AnswerReader::in_report(const JsonToken& token) {
  switch (key_) {
    case Key::kSuccess:
      report().is_success = token.kind == Kind::kTrue;
      return Place::kSkipped;
    case Key::kError:
      report().other.message = text_of(token);
      return Place::kSkipped;
    case Key::kCode:
      report().other.code = code_of(token);
      return Place::kSkipped;
    case Key::kErrors:
      report().errors.clear();
      report().has_errors =  // What a list or an object holds is still to come.
          token.kind != Kind::kNull && token.kind != Kind::kList && token.kind != Kind::kObject;
      return Place::kErrors;
    default:
      return Place::kSkipped;
  }
}

Place AnswerReader::in_errors(const JsonToken& token) {
  std::vector<D1Error>& errors = report().errors;
  report().has_errors = true;
  if (token.kind != Kind::kObject || errors.size() == kErrorChainMax) {
    return Place::kSkipped;
  }
  error_ = errors.size();
  errors.emplace_back();
  return Place::kError;
}

Place AnswerReader::in_error(const JsonToken& token) {
  const std::size_t index = top().error;
  std::vector<D1Error>& errors = report().errors;
  switch (key_) {
    case Key::kCode:
      errors[index].code = code_of(token);
      return Place::kSkipped;
    case Key::kMessage:
      errors[index].message = text_of(token);
      return Place::kSkipped;
    case Key::kErrorChain:
      errors.resize(index + 1);  // What follows it are its causes.
      return token.kind == Kind::kList ? Place::kErrors : Place::kSkipped;
    default:
      return Place::kSkipped;
  }
}

Place AnswerReader::in_members(const JsonToken& token) {
  const std::size_t index = (*content_.members)++;
  if (index >= forms_.size() || content_.failed) {
    return Place::kSkipped;
  }
  member_ = {};
  meta_ = {};
  result_ = ResultReader(forms_[index]);
  if (token.kind != Kind::kObject) {
    fail_member();
    return Place::kSkipped;
  }
  is_in_member_ = true;
  return Place::kMember;
}

Place AnswerReader::in_member(const JsonToken& token) {
  switch (key_) {
    case Key::kMeta:
      meta_ = {};
      return token.kind == Kind::kObject ? Place::kFigures : Place::kSkipped;
    case Key::kResults:
      result_.begin(token);
      return Place::kResults;
    default:
      return in_report(token);
  }
}

Place AnswerReader::in_figures(const JsonToken& token) {
  switch (key_) {
    case Key::kChanges:
      meta_.changes = whole_number_of(token);
      break;
    case Key::kLastRowId:
      meta_.last_row_id = whole_number_of(token);
      break;
    case Key::kRowsRead:
      meta_.rows_read = whole_number_of(token);
      break;
    case Key::kRowsWritten:
      meta_.rows_written = whole_number_of(token);
      break;
    case Key::kDuration:
      meta_.duration = duration_of(token);
      break;
    default:
      break;
  }
  return Place::kSkipped;
}

Place AnswerReader::in_result(const JsonToken& token) {
  if (result_.is_spoilt()) {
    return Place::kSkipped;
  }
  switch (place()) {
    case Place::kColumns:
      result_.column(token);
      return Place::kSkipped;
    case Place::kRows:
      result_.row(token);
      return Place::kRow;
    case Place::kRow:
      result_.cell(token);
      return Place::kBytes;
    case Place::kBytes:
      result_.byte(token);
      return Place::kSkipped;
    default:
      return in_results(token);
  }
}

Place AnswerReader::in_results(const JsonToken& token) {
  if (!result_.is_object()) {
    result_.spoil();
    return Place::kSkipped;
  }
  switch (key_) {
    case Key::kColumns:
      result_.begin_columns(token);
      return token.kind == Kind::kList ? Place::kColumns : Place::kSkipped;
    case Key::kRows:
      result_.begin_rows(token);
      return token.kind == Kind::kList ? Place::kRows : Place::kSkipped;
    default:
      return Place::kSkipped;
  }
}

void AnswerReader::end_member() {
  is_in_member_ = false;
  std::optional<StatementResult> result = result_.take();
  if (!member_.is_success || !result) {
    fail_member();
    return;
  }
  result->meta = meta_;
  content_.results.push_back(*std::move(result));
}

// None of the others counts any more.
void AnswerReader::fail_member() {
  content_.failed = std::move(member_);
  content_.results.clear();
}

}  // namespace

AnswerContent read_content(std::string_view body, std::span<const CellForms> forms,
                           const std::function<bool()>& is_over) {
  AnswerReader reader(forms, is_over);
  const bool is_whole = Json::sax_parse(body.begin(), body.end(), &reader);
  return std::move(reader).content(is_whole);
}

}  // namespace spillway
