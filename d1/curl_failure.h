// SPDX-License-Identifier: MIT
//
// The one place where a transfer that brought no whole answer becomes a Status.
#pragma once

#include <spillway/status.h>

#include "d1/curl_transfer.h"

#include <string_view>

namespace spillway {

/// Success: an answer arrived whole. What was not sent in full was certainly not executed: kConfig
/// for certificates that are not trusted and a proxy that cannot be used, else kTransient.
/// kCancelled likewise. Otherwise kLost, or kTooBig if the answer was larger than we take, and
/// perhaps executed; kInternal if memory ran out. `peer` is named, and nothing of a proxy's user
/// and password.
[[nodiscard]] Status transport_status(const TransferOutcome& outcome, std::string_view peer);

}  // namespace spillway
