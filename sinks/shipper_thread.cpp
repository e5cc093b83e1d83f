// SPDX-License-Identifier: MIT
#include "sinks/shipper_thread.h"

#include "sinks/worker_thread.h"

#include <chrono>
#include <utility>

namespace spillway {
namespace {

// How long a fork waits for an attempt that was told to stop. SQLite stops within milliseconds,
// unless the disk hangs.
constexpr std::chrono::seconds kForkGrace{2};

}  // namespace

ShipperThread::ShipperThread(Shipper shipper, Inbox& inbox)
    : inbox_(inbox), shipper_(std::move(shipper)) {
  ForkRegistry::of_process().add(*this);
}

ShipperThread::~ShipperThread() { ForkRegistry::of_process().remove(*this); }

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

void ShipperThread::end(End how) {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    wakes_.notify_one();
  }
  how == End::kDetach ? thread_.detach() : thread_.join();
}

void ShipperThread::run() noexcept {
  inbox_.own_this_thread();
  while (const std::optional<Send> send = next()) {
    SendDone done = shipper_.ship(*send, stop_attempt_.get_token());
    done.is_interrupted = end_attempt();
    inbox_.answer(std::move(done));
  }
}

std::optional<Send> ShipperThread::next() {
  std::unique_lock lock(mutex_);
  wakes_.wait(lock, [this] { return to_send_ || is_ended_; });
  if (!to_send_) {
    shipper_.disconnect();
    return std::nullopt;
  }
  is_shipping_ = true;
  is_interrupted_ = false;
  if (stop_attempt_.stop_requested() && !is_cancelled_) {  // Used up by a fork.
    stop_attempt_ = std::stop_source();
  }
  return std::exchange(to_send_, std::nullopt);
}

/// True if a fork cut it short. Waits until the fork is over.
bool ShipperThread::end_attempt() {
  const std::lock_guard lock(mutex_);
  is_shipping_ = false;
  is_quiet_.notify_one();
  return is_interrupted_;
}

void ShipperThread::before_fork() noexcept {
  std::unique_lock lock(mutex_);
  const bool is_fork_of_its_own = thread_.get_id() == std::this_thread::get_id();
  if (is_shipping_ && !is_fork_of_its_own) {
    is_interrupted_ = true;
    stop_attempt_.request_stop();
    is_quiet_.wait_for(lock, kForkGrace, [this] { return !is_shipping_; });
  }
  was_quiet_at_fork_ = !is_shipping_;
  if (was_quiet_at_fork_) {
    shipper_.disconnect();
  }
  lock.release();  // Stays locked until the fork is over.
}

void ShipperThread::after_fork() noexcept { mutex_.unlock(); }

}  // namespace spillway
