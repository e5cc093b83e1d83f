// SPDX-License-Identifier: MIT
#include "sinks/shipper_thread.h"

#include "sinks/worker_thread.h"

#include <new>
#include <utility>

namespace spillway {

ShipperThread::ShipperThread(Shipper shipper, Inbox& inbox)
    : inbox_(inbox), shipper_(std::move(shipper)) {}

void ShipperThread::start(std::shared_ptr<void> owner) {
  thread_ = start_worker_thread("spillway-ship", [this, owner = std::move(owner)] { run(); });
}

void ShipperThread::post(Send send) {
  const std::lock_guard lock(mutex_);
  to_send_ = std::move(send);
  wakes_.notify_one();
}

void ShipperThread::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  stop_attempt_.request_stop();
}

void ShipperThread::finish() noexcept {
  const std::lock_guard lock(mutex_);
  is_finished_ = true;
  wakes_.notify_one();
}

void ShipperThread::run() noexcept {
  inbox_.own_this_thread();
  while (const std::optional<Send> send = next()) {
    SendDone done = shipper_.ship(*send, stop_attempt_.get_token());
    done.is_interrupted = end_attempt();
    inbox_.answer(std::move(done));
  }
  shipper_.disconnect();
  static_cast<void>(end_attempt());
}

/// Empty: there will be none. Busy in either case, until end_attempt.
std::optional<Send> ShipperThread::next() {
  std::unique_lock lock(mutex_);
  id_ = std::this_thread::get_id();
  wakes_.wait(lock, [this] { return !is_forking_ && (to_send_ || is_finished_); });
  is_busy_ = true;
  is_interrupted_ = false;
  if (stop_attempt_.stop_requested() && !is_cancelled_) {  // Used up by a fork.
    try {
      stop_attempt_ = std::stop_source();
    } catch (const std::bad_alloc&) {  // This attempt ends at once, and is made again later.
    }
  }
  return std::exchange(to_send_, std::nullopt);
}

/// True if a fork cut it short.
bool ShipperThread::end_attempt() {
  const std::lock_guard lock(mutex_);
  is_busy_ = false;
  is_quiet_.notify_one();
  return is_interrupted_;
}

void ShipperThread::begin_fork() noexcept {
  const std::lock_guard lock(mutex_);
  is_forking_ = true;
  const bool is_fork_of_its_own = id_ == std::this_thread::get_id();
  if (is_busy_ && !is_fork_of_its_own) {
    is_interrupted_ = true;
    stop_attempt_.request_stop();
  }
}

bool ShipperThread::await_quiet(SteadyTime deadline) noexcept {
  std::unique_lock lock(mutex_);
  const bool is_fork_of_its_own = id_ == std::this_thread::get_id();
  while (is_busy_ && !is_fork_of_its_own) {
    const auto left = deadline - Clock::system().steady_now();
    if (left.count() <= 0) {
      break;
    }
    is_quiet_.wait_for(lock, left);
  }
  if (is_busy_) {
    return false;
  }
  lock.unlock();  // Nothing begins until end_fork.
  shipper_.disconnect();
  return true;
}

void ShipperThread::end_fork() noexcept {
  const std::lock_guard lock(mutex_);
  is_forking_ = false;
  wakes_.notify_one();
}

}  // namespace spillway
