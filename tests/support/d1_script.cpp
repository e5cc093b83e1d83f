// SPDX-License-Identifier: MIT
#include "tests/support/d1_script.h"

#include <utility>

namespace spillway::testing {

void D1Script::add(std::initializer_list<D1Fault> faults) {
  const std::lock_guard lock(mutex_);
  faults_.insert(faults_.end(), faults.begin(), faults.end());
}

void D1Script::set_rule(D1Rule rule) {
  const std::lock_guard lock(mutex_);
  rule_ = std::move(rule);
}

void D1Script::only_for(std::string text) {
  const std::lock_guard lock(mutex_);
  meant_ = std::move(text);
}

void D1Script::release() {
  const std::lock_guard lock(mutex_);
  ++releases_;
  changed_.notify_all();
}

void D1Script::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

D1Fault D1Script::next(const D1Request& request) {
  if (request.body.find(meant_) == std::string::npos) {
    return D1Fault::pass();
  }
  if (faults_.empty()) {
    return rule_ ? rule_(request) : D1Fault::pass();
  }
  D1Fault fault = std::move(faults_.front());
  faults_.pop_front();
  return fault;
}

D1Decision D1Script::take(D1Request request) {
  const std::lock_guard lock(mutex_);
  D1Decision decision{next(request), releases_};
  request.fault = decision.fault.name;
  ++counts_.requests;
  ++counts_.by_fault[request.fault];
  if (keeps_requests_) {
    requests_.push_back(std::move(request));
  }
  changed_.notify_all();
  return decision;
}

void D1Script::count_connection() {
  const std::lock_guard lock(mutex_);
  ++counts_.connections;
}

void D1Script::count_rows(std::int64_t rows) {
  const std::lock_guard lock(mutex_);
  counts_.rows_written += rows;
}

bool D1Script::wait(const D1Decision& decision, std::optional<std::chrono::milliseconds> time) {
  std::unique_lock lock(mutex_);
  const auto is_over = [&] { return is_stopped_ || releases_ > decision.releases; };
  if (time) {
    changed_.wait_for(lock, *time, is_over);
  } else {
    changed_.wait(lock, is_over);
  }
  return !is_stopped_;
}

bool D1Script::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&] { return is_stopped_; });
}

std::vector<D1Request> D1Script::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool D1Script::wait_for_requests(std::size_t count, std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return counts_.requests >= count; });
}

D1Counts D1Script::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace spillway::testing
