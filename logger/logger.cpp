// SPDX-License-Identifier: MIT
#include <spillway/logger.h>

#include "d1/environment.h"
#include "logger/level_rules.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstring>
#include <utility>

namespace spillway {
namespace {

/// FILE:LINE without taking memory. Of a very long path the end is kept.
class SourceText {
 public:
  explicit SourceText(SourceLocation where) noexcept {
    constexpr std::size_t kFileBytesMax = 480;
    std::string_view file = where.file;
    file.remove_prefix(file.size() - std::min(file.size(), kFileBytesMax));
    char* at = std::copy(file.begin(), file.end(), text_.data());
    *at++ = ':';
    at = std::to_chars(at, text_.data() + text_.size(), where.line).ptr;
    bytes_ = static_cast<std::size_t>(at - text_.data());
  }
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), bytes_}; }

 private:
  std::array<char, 512> text_;
  std::size_t bytes_;
};

// Longer is no more than this, and would not be a point in time.
constexpr std::chrono::hours kFlushMax{24 * 365};

LevelRules rules_of_environment(const LoggerOptions& options) {
  return LevelRules(options.level_variable.empty()
                        ? std::string()
                        : environment_variable(options.level_variable.c_str()));
}

}  // namespace

/// What all loggers made of one have in common.
struct Logger::Core {
  Core(std::vector<std::shared_ptr<LogTarget>> all, const LoggerOptions& options)
      : targets(std::move(all)),
        redaction(options.redact),
        rules(rules_of_environment(options)),
        clock(*options.clock),
        has_source(options.has_source) {}

  const std::vector<std::shared_ptr<LogTarget>> targets;
  const Redaction redaction;
  const LevelRules rules;
  const Clock& clock;
  const bool has_source;
};

struct Logger::State {
  std::shared_ptr<const Core> core;
  std::string name;
  std::string bound;  ///< Encoded fields.
  std::shared_ptr<Threshold> threshold;
};

Logger::Logger(std::string name, std::vector<std::shared_ptr<LogTarget>> targets,
               const LoggerOptions& options) {
  auto core = std::make_shared<const Core>(std::move(targets), options);
  const LevelRule* const rule = core->rules.rule_for(name);
  auto threshold = std::make_shared<Threshold>(
      rule != nullptr ? rule->threshold : static_cast<std::uint8_t>(options.level));
  threshold_ = threshold.get();
  state_ = std::make_shared<const State>(
      State{std::move(core), std::move(name), {}, std::move(threshold)});
  for (const std::string& item : state_->core->rules.unreadable()) {
    const std::array<Field, 2> fields = {Field("variable", options.level_variable),
                                         Field("ignored", item)};
    write(Level::kWarn, "No level can be read from a part of the variable", fields, {});
  }
}

Logger::Logger(std::shared_ptr<const State> state) noexcept
    : state_(std::move(state)), threshold_(state_->threshold.get()) {}

Result<Logger> Logger::open(std::string name, const std::string& url, PipelineOptions pipeline,
                            const LoggerOptions& options) {
  auto factory = database_factory(url, OpenMode::kCreate);
  if (!factory) {
    return factory.error();
  }
  auto started = Pipeline::start(*std::move(factory), std::move(pipeline));
  if (!started) {
    return started.error();
  }
  auto target = std::make_shared<PipelineTarget>(*std::move(started));
  return Logger(std::move(name), {std::move(target)}, options);
}

Logger Logger::with(std::initializer_list<Field> fields) const {
  FieldBuffer encoded;
  encoded.append(state_->bound);
  encode_fields(fields, state_->core->redaction, encoded);
  return Logger(std::make_shared<const State>(
      State{state_->core, state_->name, std::string(encoded.view()), state_->threshold}));
}

Logger Logger::named(std::string_view child) const {
  const LevelRules& rules = state_->core->rules;
  std::string name = state_->name;
  name += name.empty() ? "" : ".";
  name += child;
  const LevelRule* const rule = rules.rule_for(name);
  const bool has_own = rule != nullptr && rule != rules.rule_for(state_->name);
  auto threshold = std::make_shared<Threshold>(has_own ? rule->threshold : threshold_->load());
  return Logger(std::make_shared<const State>(
      State{state_->core, std::move(name), state_->bound, std::move(threshold)}));
}

void Logger::set_level(std::optional<Level> level) const noexcept {
  threshold_->store(level ? static_cast<std::uint8_t>(*level) : kThresholdOff);
}

std::optional<Level> Logger::level() const noexcept {
  const std::uint8_t threshold = threshold_->load();
  return threshold < kThresholdOff ? std::optional(static_cast<Level>(threshold)) : std::nullopt;
}

std::string_view Logger::name() const noexcept { return state_->name; }

const Redaction& Logger::redaction() const noexcept { return state_->core->redaction; }

bool Logger::flush(std::chrono::milliseconds timeout) const noexcept {
  const Clock& clock = state_->core->clock;
  const SteadyTime deadline =
      clock.steady_now() + std::min<std::chrono::milliseconds>(timeout, kFlushMax);
  bool is_complete = true;
  for (const std::shared_ptr<LogTarget>& target : state_->core->targets) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.steady_now());
    is_complete = target->flush(std::max(left, std::chrono::milliseconds(0))) && is_complete;
  }
  return is_complete;
}

/// In rising order of what counts when names are equal: the source, the thread's context, the
/// logger's fields, the call's.
void Logger::write(Level level, std::string_view message, std::span<const Field> fields,
                   SourceLocation where) const noexcept {
  const State& state = *state_;
  const Core& core = *state.core;
  FieldBuffer encoded;
  if (core.has_source) {
    const SourceText source(where);
    encode_fields({{"source", source.view()}}, core.redaction, encoded);
  }
  encoded.append(ScopedContext::current_fields());
  encoded.append(state.bound);
  encode_fields(fields, core.redaction, encoded);
  const RecordView record{.time = core.clock.wall_now(),
                          .level = level,
                          .context = state.name,
                          .message = message,
                          .encoded_fields = encoded.view()};
  for (const std::shared_ptr<LogTarget>& target : core.targets) {
    target->accept(record);
  }
}

}  // namespace spillway
