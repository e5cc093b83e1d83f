// SPDX-License-Identifier: MIT
//
// What the bench says of its measurements: medians of the runs, for people or for programs.
#pragma once

#include "bench/measurement.h"

#include <span>
#include <string>

namespace spillway::bench {

/// Several lines.
[[nodiscard]] std::string table_of(std::span<const Measurement> measurements,
                                   const MeasurementOptions& options);

/// One object on one line.
[[nodiscard]] std::string json_of(std::span<const Measurement> measurements,
                                  const MeasurementOptions& options);

}  // namespace spillway::bench
