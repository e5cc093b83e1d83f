// SPDX-License-Identifier: MIT
//
// The bounds of PipelineOptions, and what becomes of them inside.
#pragma once

#include <spillway/pipeline.h>
#include <spillway/status.h>

#include "sinks/inbox.h"
#include "sinks/pipeline_core.h"

#include <cstdint>

namespace spillway {

/// kInvalidArgument names the option that is out of its bounds.
[[nodiscard]] Status check(const PipelineOptions& options);

[[nodiscard]] CoreOptions core_options(const PipelineOptions& options, std::uint64_t seed);
[[nodiscard]] InboxOptions inbox_options(const PipelineOptions& options);

}  // namespace spillway
