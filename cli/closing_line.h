// SPDX-License-Identifier: MIT
//
// The account that `spillway log` gives at its end.
#pragma once

#include <spillway/stats.h>

#include <string>

namespace spillway {

/// One JSON object and a newline:
///
///   {"issued":100,"stored":88,"skipped":{"INFO":12},"unreported":0,"in_doubt":0,…}
///
/// issued = stored + all of skipped + in_doubt + dead_lettered + spooled. `unreported` is the part
/// of skipped that no stored gap row names. What was still on its way counts as in doubt.
[[nodiscard]] std::string closing_line(const Stats& stats);

/// True if every record is in the table or named in a gap row that is.
[[nodiscard]] bool is_all_accounted_for(const Stats& stats) noexcept;

}  // namespace spillway
