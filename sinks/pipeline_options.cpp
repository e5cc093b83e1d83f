// SPDX-License-Identifier: MIT
#include "sinks/pipeline_options.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iomanip>
#include <sstream>

namespace spillway {
namespace {

using std::chrono::milliseconds;

struct Bound {
  const char* option;
  long double value;
  long double min;
  long double max;
};

long double as_number(milliseconds duration) { return static_cast<long double>(duration.count()); }
long double as_number(std::size_t size) { return static_cast<long double>(size); }

/// The rate as it is bounded: no limit is within the bounds.
RequestRate bounded_rate(const PipelineOptions& options) {
  const RequestRate rate = options.request_rate.value_or(RequestRate{});
  return rate.per_second == 0 && rate.burst == 0 ? RequestRate{1, 1} : rate;
}

}  // namespace

Status check(const PipelineOptions& options) {
  constexpr long double kHour = 3'600'000;
  const RequestRate rate = bounded_rate(options);
  const Bound bounds[] = {
      {"overload.write_pause", as_number(options.overload.write_pause), 1, kHour},
      {"overload.error_interval", as_number(options.overload.error_interval), 1, kHour},
      {"close_timeout", as_number(options.close_timeout), 0, kHour},
      {"queue_bytes_max", as_number(options.queue_bytes_max), 64 << 10, 16.0L * (1 << 30)},
      {"queue_records_max", as_number(options.queue_records_max), 100, 2147483648.0L},
      {"batch_rows_max", as_number(options.batch_rows_max), 1, 100'000},
      {"batch_bytes_max", as_number(options.batch_bytes_max.value_or(kBatchBytes)), 1'000,
       2'000'000},
      {"batch_age_max", as_number(options.batch_age_max), 0, 60'000},
      {"attempt_timeout", as_number(options.attempt_timeout), 10, 600'000},
      {"request_rate.per_second", static_cast<long double>(rate.per_second), 0.001L, 100'000},
      {"request_rate.burst", static_cast<long double>(rate.burst), 1, 100'000},
  };
  for (const Bound& bound : bounds) {
    if (!(bound.value >= bound.min && bound.value <= bound.max)) {
      std::ostringstream text;
      text << std::setprecision(15) << bound.option << " is " << bound.value << "; it must be from "
           << bound.min << " to " << bound.max;
      return Status(StatusCode::kInvalidArgument, text.str());
    }
  }
  return options.clock ? Status() : Status(StatusCode::kInvalidArgument, "clock is null");
}

CoreOptions core_options(const PipelineOptions& options, std::uint64_t seed) {
  return {.overload = options.overload,
          .batch_rows_max = options.batch_rows_max,
          .batch_bytes_max = options.batch_bytes_max,
          .batch_age_max = options.batch_age_max,
          .attempt_timeout = options.attempt_timeout,
          .request_rate = options.request_rate,
          .seed = seed};
}

InboxOptions inbox_options(const PipelineOptions& options) {
  // Of a batch, so that the next one is collected while one is sent.
  constexpr std::size_t kPart = 4;
  return {.limit = {.bytes = options.queue_bytes_max, .records = options.queue_records_max},
          .wake_records = std::max<std::size_t>(options.batch_rows_max / kPart, 1),
          .wake_bytes = options.batch_bytes_max.value_or(kBatchBytes) / kPart,
          .collect_max = options.batch_age_max};
}

}  // namespace spillway
