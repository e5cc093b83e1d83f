// SPDX-License-Identifier: MIT
#include "retention/end.h"

namespace spillway::retention {

Verdict verdict_of(const Status& failure) {
  switch (failure.code()) {
    case StatusCode::kOverload:
    case StatusCode::kRateLimited:
    case StatusCode::kTransient:
    case StatusCode::kLost:
    case StatusCode::kQuota:
      return {End::kUnavailable, failure.message(), failure};
    case StatusCode::kInvalidArgument:
      return {End::kUsage, failure.message(), failure};
    case StatusCode::kCancelled:
      return {End::kStopped, failure.message(), failure};
    default:
      return {End::kError, failure.message(), failure};
  }
}

}  // namespace spillway::retention
