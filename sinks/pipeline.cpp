// SPDX-License-Identifier: MIT
#include <spillway/pipeline.h>

#include "sinks/pipeline_options.h"
#include "sinks/pipeline_state.h"

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace spillway {

using std::chrono::milliseconds;

Result<std::unique_ptr<Pipeline>> Pipeline::start(DatabaseFactory factory,
                                                  PipelineOptions options) {
  if (!factory) {
    return Status(StatusCode::kInvalidArgument, "the database factory is empty");
  }
  if (Status status = check(options); !status.is_ok()) {
    return status;
  }
  auto table = LogTable::named(options.table);
  if (!table) {
    return table.error();
  }
  try {
    const auto state = State::start(std::move(factory), *std::move(table), std::move(options));
    return std::unique_ptr<Pipeline>(new Pipeline(*state));
  } catch (const std::exception& error) {  // No thread, no memory, no randomness.
    return Status(StatusCode::kInternal, std::string("cannot start: ") + error.what());
  }
}

Pipeline::Pipeline(State& state) : state_(&state) {}

Pipeline::~Pipeline() {
  State* const state = state_;
  if (state->is_of_this_process()) {  // What was inherited is left alone.
    state->let_go();
  }
}

Pipeline::State* Pipeline::state() noexcept {
  State* const state = state_.load(std::memory_order_acquire);
  return state->is_of_this_process() ? state : state_of_child(state);
}

/// The first call in a child. Locks nothing that was inherited: it may have been locked at the
/// fork, by a thread that is not there. Null without memory.
Pipeline::State* Pipeline::state_of_child(State* inherited) noexcept {
  try {
    const std::shared_ptr<State> state = inherited->successor();
    State* expected = inherited;
    if (!state_.compare_exchange_strong(expected, state.get(), std::memory_order_acq_rel)) {
      state->let_go();  // Another thread was faster.
      return expected;
    }
    return state.get();
  } catch (...) {
    return nullptr;
  }
}

bool Pipeline::accept(const RecordView& record) noexcept {
  State* const state = this->state();
  return state != nullptr && state->inbox().accept(record);
}

void Pipeline::count_lost(std::uint64_t records, WallTime from, WallTime to) noexcept {
  if (State* const state = this->state()) {
    state->inbox().count_lost(records, from, to);
  }
}

void Pipeline::wait_for_room(const RecordView& record) noexcept {
  if (State* const state = this->state()) {
    state->inbox().wait_for_room(record);
  }
}

bool Pipeline::is_worth_waiting() const noexcept {
  const State* const state = state_.load(std::memory_order_acquire);
  return state->is_of_this_process() && state->inbox().is_worth_waiting();
}

Stats Pipeline::flush(milliseconds timeout) noexcept {
  State* const state = this->state();
  return state != nullptr ? state->flush(timeout) : Stats();
}

Stats Pipeline::close(milliseconds timeout) noexcept {
  State* const state = this->state();
  return state != nullptr ? state->close(timeout) : Stats();
}

Stats Pipeline::stats() const noexcept {
  const State* const state = state_.load(std::memory_order_acquire);
  return state->is_of_this_process() ? state->stats() : Stats{.is_complete = true};
}

}  // namespace spillway
