// SPDX-License-Identifier: MIT
#include "d1/failure_text.h"

#include "base/ascii.h"
#include "base/one_line.h"
#include "base/utf8.h"
#include "d1/sqlite_status.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace spillway {
namespace {

constexpr std::size_t kMessageBytesMax = 256;

// What is wrapped round a text.

constexpr std::string_view kPrefixes[] = {
    "D1_ERROR: ",      "D1_EXEC_ERROR: ",    "D1_TYPE_ERROR: ", "D1_COLUMN_NOTFOUND: ",
    "D1_DUMP_ERROR: ", "D1_SESSION_ERROR: ", "D1 REST: ",       "Error: ",
    "NOSENTRY ",
};

std::string_view without_prefixes(std::string_view text) {
  text = trimmed(text);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const std::string_view prefix : kPrefixes) {
      if (text.starts_with(prefix)) {
        text = trimmed(text.substr(prefix.size()));
        has_changed = true;
      }
    }
  }
  return text;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Takes "HEAD…TAIL" off the end of the text if `is_filling` says yes to what is between.
template <typename Check>
bool take_tail(std::string_view& text, std::string_view head, std::string_view tail,
               Check&& is_filling) {
  const std::size_t at = text.rfind(head);
  if (at == std::string_view::npos) {
    return false;
  }
  std::string_view filling = text.substr(at + head.size());
  if (!filling.ends_with(tail)) {
    return false;
  }
  filling.remove_suffix(tail.size());
  if (!is_filling(filling)) {
    return false;
  }
  text = text.substr(0, at);
  return true;
}

// " [code: 7500]", " (code: 7500)".
std::string_view without_code(std::string_view text) {
  while (take_tail(text, " [code: ", "]", is_number) ||
         take_tail(text, " (code: ", ")", is_number)) {
    text = trimmed(text);
  }
  return text;
}

// "; reference = …", which differs each time.
std::string_view without_reference(std::string_view text) {
  const auto is_word = [](std::string_view filling) {
    return filling.find(' ') == std::string_view::npos;
  };
  take_tail(text, "; reference = ", "", is_word);
  return text;
}

std::string_view without_dot(std::string_view text) {
  while (text.ends_with('.')) {
    text.remove_suffix(1);
  }
  return text;
}

// SQLite's own texts: "<text>[ at offset N]: SQLITE_NAME[ (extended: SQLITE_NAME_MORE)]"

struct EngineText {
  std::string_view message;
  int sqlite_code = 0;  // 0: the text is not of this form.
};

EngineText engine_text(std::string_view text) {
  EngineText found{text};
  const auto is_code = [&found](std::string_view name) {
    found.sqlite_code = sqlite_code_named(name);
    return found.sqlite_code != 0;
  };
  std::string_view rest = text;
  int extended = 0;
  if (take_tail(rest, " (extended: ", ")", is_code)) {
    extended = found.sqlite_code;
  }
  if (!take_tail(rest, ": ", "", is_code)) {
    return {text};
  }
  take_tail(rest, " at offset ", "", is_number);
  return {rest, extended != 0 ? extended : found.sqlite_code};
}

Verdict verdict_of_engine(const EngineText& text) {
  const StatusCode code = class_of_sqlite(text.sqlite_code, text.message);
  return {code, Status(code, "").execution(), false, text.sqlite_code};
}

// The tables.

struct Pattern {
  std::string_view head;
  std::string_view tail = {};
  enum class Extent { kWhole, kSentence, kPrefix } extent = Extent::kWhole;
};

constexpr Pattern whole(std::string_view text) { return {text}; }
// The text, or the text and further sentences.
constexpr Pattern sentence(std::string_view text) { return {text, {}, Pattern::Extent::kSentence}; }
constexpr Pattern prefix(std::string_view text) { return {text, {}, Pattern::Extent::kPrefix}; }
constexpr Pattern around(std::string_view head, std::string_view tail) { return {head, tail}; }

// `text` is in lower case, as the patterns are.
bool matches(const Pattern& pattern, std::string_view text) {
  if (!pattern.tail.empty()) {
    return text.size() > pattern.head.size() + pattern.tail.size() &&
           text.starts_with(pattern.head) && text.ends_with(pattern.tail);
  }
  if (!text.starts_with(pattern.head)) {
    return false;
  }
  const std::string_view rest = text.substr(pattern.head.size());
  return rest.empty() || pattern.extent == Pattern::Extent::kPrefix ||
         (pattern.extent == Pattern::Extent::kSentence && rest.starts_with(". "));
}

struct Entry {
  Pattern pattern;
  Verdict verdict;
};

constexpr Verdict kLasting = {StatusCode::kTransient, Execution::kNo, true, 0};

// In lower case and without a final dot. The Durable Object below a D1 database speaks of itself in
// the same sentences.
constexpr Entry kPlatform[] = {
    {whole("d1 db is overloaded. too many requests queued"), not_executed(StatusCode::kOverload)},
    {whole("durable object is overloaded. too many requests queued"),
     not_executed(StatusCode::kOverload)},
    {whole("durable object is overloaded. too much data queued"),
     not_executed(StatusCode::kOverload)},
    {around("durable object is overloaded. too many requests for the same object within a ",
            " second window"),
     not_executed(StatusCode::kOverload)},
    // Whether it had been begun, the sources disagree: docs/facts.md, "Errors".
    {whole("d1 db is overloaded. requests queued for too long"),
     maybe_executed(StatusCode::kOverload)},
    {whole("durable object is overloaded. requests queued for too long"),
     maybe_executed(StatusCode::kOverload)},

    {sentence("please wait and consider throttling your request speed"),
     not_executed(StatusCode::kRateLimited)},
    {around("more than ",
            " seconds reached. please wait and consider throttling your request speed"),
     not_executed(StatusCode::kRateLimited)},

    {whole("cannot resolve d1 db due to transient issue on remote node"),
     not_executed(StatusCode::kTransient)},
    {whole("internal error while starting up d1 db storage caused object to be reset"),
     not_executed(StatusCode::kTransient)},
    {whole("internal error while starting up durable object storage caused object to be reset"),
     not_executed(StatusCode::kTransient)},
    {sentence("currently processing a long-running export"), kLasting},
    {sentence("currently processing a long-running import"), kLasting},
    {around("cancelled due to no poll() received in ", "ms"), not_executed(StatusCode::kTransient)},

    {whole("internal error"), maybe_executed(StatusCode::kLost)},
    {whole("internal error in d1 db storage caused object to be reset"),
     maybe_executed(StatusCode::kLost)},
    {whole("internal error in d1 storage caused object to be reset"),
     maybe_executed(StatusCode::kLost)},
    {whole("internal error in durable object storage caused object to be reset"),
     maybe_executed(StatusCode::kLost)},
    {whole("network connection lost"), maybe_executed(StatusCode::kLost)},
    {whole("replica disconnected from primary"), maybe_executed(StatusCode::kLost)},
    {whole("d1 db reset because its code was updated"), maybe_executed(StatusCode::kLost)},
    {whole("durable object reset because its code was updated"), maybe_executed(StatusCode::kLost)},
    // Where SQLite's own code stands behind it, that decides: a constraint is one.
    {prefix("durable object was reset and rolled back to its last known good state because "),
     maybe_executed(StatusCode::kLost)},
    {whole("can't read from request stream because client disconnected"),
     maybe_executed(StatusCode::kLost)},
    {whole("{\"d1_reset_do\":true}"), maybe_executed(StatusCode::kLost)},
    {whole("upstream service unavailable"), maybe_executed(StatusCode::kLost)},
    {prefix("failed to parse body as json, got: "), maybe_executed(StatusCode::kLost)},
    {prefix("error 9000: exception caught in d1 core"), maybe_executed(StatusCode::kLost)},
    {whole("failed to allocate for query"), maybe_executed(StatusCode::kLost)},

    {whole("d1 db storage operation exceeded timeout which caused object to be reset"),
     maybe_executed(StatusCode::kTooBig)},
    {whole("durable object storage operation exceeded timeout which caused object to be reset"),
     maybe_executed(StatusCode::kTooBig)},
    {whole("d1 db's isolate exceeded its memory limit and was reset"),
     maybe_executed(StatusCode::kTooBig)},
    {whole("durable object's isolate exceeded its memory limit and was reset"),
     maybe_executed(StatusCode::kTooBig)},
    {whole("d1 db exceeded its cpu time limit and was reset"), maybe_executed(StatusCode::kTooBig)},
    {whole("durable object exceeded its cpu time limit and was reset"),
     maybe_executed(StatusCode::kTooBig)},
    {whole("rpc message size limit exceeded"), maybe_executed(StatusCode::kTooBig)},
    {whole("invalid string length"), maybe_executed(StatusCode::kTooBig)},

    {whole("exceeded maximum db size"), not_executed(StatusCode::kStorageFull)},
    {prefix("your account has exceeded d1's maximum account storage limit"),
     not_executed(StatusCode::kStorageFull)},
    {sentence("your account has exceeded d1's free tier daily row read limit"),
     not_executed(StatusCode::kQuota)},
    {sentence("your account has exceeded d1's free tier daily row write limit"),
     not_executed(StatusCode::kQuota)},

    {whole("authentication error"), not_executed(StatusCode::kAuth)},
    {around("the database ", " could not be found"), not_executed(StatusCode::kConfig)},
    {whole("the given account is not valid or is not authorized to access this service"),
     not_executed(StatusCode::kConfig)},
    {prefix("could not route to /"), not_executed(StatusCode::kConfig)},
    {whole("no route for the uri"), not_executed(StatusCode::kConfig)},
    {sentence("you can no longer query a d1 alpha database"), not_executed(StatusCode::kConfig)},

    {whole("no sql statements detected"), not_executed(StatusCode::kPermanent)},
    {whole("sql code did not contain a statement"), not_executed(StatusCode::kPermanent)},
    {prefix("the request is malformed: "), not_executed(StatusCode::kPermanent)},
    {prefix("system limit reached: "), not_executed(StatusCode::kPermanent)},
    {whole("not currently importing anything"), not_executed(StatusCode::kPermanent)},
    {prefix("d1 export error: "), not_executed(StatusCode::kPermanent)},
    {whole("too many api requests by single worker invocation"),
     not_executed(StatusCode::kPermanent)},
    {prefix("to execute a transaction, please use the state.storage.transaction()"),
     not_executed(StatusCode::kPermanent)},
    {around("type '", "'"), not_executed(StatusCode::kPermanent)},
    {whole("wrong number of parameter bindings for sql query"),
     not_executed(StatusCode::kPermanent)},
    {sentence(
         "when executing multiple sql statements in a single call, only the last statement can "
         "have parameters"),
     not_executed(StatusCode::kPermanent)},
};

struct EngineEntry {
  Pattern pattern;
  int sqlite_code;
};

// SQLite's texts where the name of the code is left out. Their class is class_of_sqlite's to say.
constexpr EngineEntry kEngine[] = {
    {whole("database is locked"), SQLITE_BUSY},
    {whole("database table is locked"), SQLITE_LOCKED},
    {prefix("database table is locked: "), SQLITE_LOCKED},
    {whole("locking protocol"), SQLITE_PROTOCOL},
    {whole("interrupted"), SQLITE_INTERRUPT},
    {whole("out of memory"), SQLITE_NOMEM},
    {whole("disk i/o error"), SQLITE_IOERR},
    {whole("database or disk is full"), SQLITE_FULL},
    {whole("string or blob too big"), SQLITE_TOOBIG},
    {whole("statement too long"), SQLITE_TOOBIG},
    {whole("unable to open database file"), SQLITE_CANTOPEN},
    {whole("attempt to write a readonly database"), SQLITE_READONLY},
    {whole("file is not a database"), SQLITE_NOTADB},
    {whole("database disk image is malformed"), SQLITE_CORRUPT},
    {whole("datatype mismatch"), SQLITE_MISMATCH},
    {prefix("unique constraint failed: "), SQLITE_CONSTRAINT_UNIQUE},
    {prefix("not null constraint failed: "), SQLITE_CONSTRAINT_NOTNULL},
    {prefix("check constraint failed: "), SQLITE_CONSTRAINT_CHECK},
    {whole("foreign key constraint failed"), SQLITE_CONSTRAINT_FOREIGNKEY},
    {whole("not authorized"), SQLITE_AUTH},
    {prefix("not authorized to use function: "), SQLITE_AUTH},
    {around("access to ", " is prohibited"), SQLITE_AUTH},
    {around("table ", " already exists"), SQLITE_ERROR},
    {around("near \"", "\": syntax error"), SQLITE_ERROR},
    {prefix("unrecognized token: \""), SQLITE_ERROR},
    {whole("incomplete input"), SQLITE_ERROR},
    {prefix("too many columns on "), SQLITE_ERROR},
    {whole("too many terms in compound select"), SQLITE_ERROR},
    {whole("like or glob pattern too complex"), SQLITE_ERROR},
    {whole("on conflict clause does not match any primary key or unique constraint"), SQLITE_ERROR},
    {whole("cannot vacuum from within a transaction"), SQLITE_ERROR},
    {whole("cannot start a transaction within a transaction"), SQLITE_ERROR},
};

template <typename Table>
auto find_in(const Table& table, std::string_view text) {
  return std::find_if(std::begin(table), std::end(table),
                      [text](const auto& entry) { return matches(entry.pattern, text); });
}

std::optional<Verdict> verdict_of_platform(std::string_view text) {
  const auto* const found = find_in(kPlatform, lower_case(without_dot(without_reference(text))));
  return found == std::end(kPlatform) ? std::nullopt : std::optional(found->verdict);
}

std::optional<Verdict> verdict_of_nameless_engine(std::string_view text) {
  text = without_dot(text);
  take_tail(text, " at offset ", "", is_number);
  const auto* const found = find_in(kEngine, lower_case(text));
  if (found != std::end(kEngine)) {
    return verdict_of_engine({text, found->sqlite_code});
  }
  // The generic texts that have a class of their own are class_of_sqlite's to know.
  const Verdict generic = verdict_of_engine({text, SQLITE_ERROR});
  return generic.code == StatusCode::kPermanent ? std::nullopt : std::optional(generic);
}

std::string_view bare(std::string_view message) { return without_code(without_prefixes(message)); }

bool is_html(std::string_view text) {
  const std::string lower = lower_case(text);
  constexpr std::array<std::string_view, 4> kMarks = {"<html", "<!doctype", "<head", "<body"};
  return std::any_of(kMarks.begin(), kMarks.end(), [&lower](std::string_view mark) {
    return lower.find(mark) != std::string::npos;
  });
}

}  // namespace

std::optional<Verdict> verdict_of_text(std::string_view message) {
  const std::string_view text = bare(message);
  const EngineText engine = engine_text(text);
  if (engine.sqlite_code == 0) {
    const std::optional<Verdict> verdict = verdict_of_platform(text);
    return verdict ? verdict : verdict_of_nameless_engine(text);
  }
  // The platform says some of its own in this form too, under the name that says nothing.
  if (engine.sqlite_code == SQLITE_ERROR) {
    if (const std::optional<Verdict> verdict = verdict_of_platform(engine.message)) {
      return verdict;
    }
  }
  return verdict_of_engine(engine);
}

std::string presentable(std::string_view message) {
  if (is_html(message)) {
    return {};
  }
  const std::string line = one_line(std::string(engine_text(bare(message)).message));
  std::string text;
  if (!append_storable_text(line, kMessageBytesMax, text)) {
    text.resize(0);
    append_storable_text(line, kMessageBytesMax - 3, text);
    text += "...";
  }
  return text;
}

}  // namespace spillway
