// SPDX-License-Identifier: MIT
//
// How many rows a second reach a database: through the log pipeline, and by the plain way, one
// INSERT of as many rows a request as D1's 100 parameters allow. Both write rows of the same shape
// into tables of their own, which are dropped before and afterwards, and are counted there.
#pragma once

#include <spillway/status.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spillway::bench {

struct InsertRateOptions {
  std::string db;            ///< Its URL.
  int runs = 5;              ///< In each, both ways, one after the other.
  int pipeline_rows = 20'000;
  int plain_rows = 2'800;    ///< Fewer: this is the slow way.
};

struct InsertRates {
  double pipeline = 0;  ///< Rows a second, found in the table at the end.
  double plain = 0;
};

/// One for each run. A failure says what could not be done; nothing of it is left in the database
/// then but perhaps the tables.
[[nodiscard]] Result<std::vector<InsertRates>> measure_insert_rates(
    const InsertRateOptions& options);

/// Medians of the runs and of their own quotients: several lines, or one JSON object on one line.
[[nodiscard]] std::string table_of(const std::vector<InsertRates>& runs);
[[nodiscard]] std::string json_of(const std::vector<InsertRates>& runs);

}  // namespace spillway::bench
