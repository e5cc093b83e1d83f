// SPDX-License-Identifier: MIT
#include <spillway/log_target.h>

#include <cassert>
#include <utility>

namespace spillway {

PipelineTarget::PipelineTarget(std::shared_ptr<Pipeline> pipeline) noexcept
    : pipeline_(std::move(pipeline)) {
  assert(pipeline_ != nullptr);
}

void PipelineTarget::accept(const RecordView& record) noexcept { pipeline_->accept(record); }

bool PipelineTarget::flush(std::chrono::milliseconds timeout) noexcept {
  return pipeline_->flush(timeout).is_complete;
}

}  // namespace spillway
