// SPDX-License-Identifier: MIT
//
// What deleting half of a log table does to an application that writes into it meanwhile: by one
// single DELETE, and by a run of retention. Both begin with the same bytes, in files of their own,
// and a SteadyWriter beside them.
#pragma once

#include <spillway/status.h>

#include "bench/steady_writer.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace spillway::bench {

struct Deletion {
  std::int64_t deleted = 0;
  std::chrono::duration<double> took{0};  ///< In all.
  SteadyWriter::Figures writer = {};
  std::int64_t file_bytes = 0;  ///< Afterwards.
};

struct RetentionFigures {
  std::int64_t rows = 0;     ///< In the table, of about 250 bytes each.
  std::int64_t expired = 0;  ///< Of these.
  std::int64_t file_bytes = 0;
  Deletion single = {};
  Deletion run = {};
  std::chrono::duration<double> reclaim{0};  ///< The part of the run that gives space back.
  std::int64_t chunks = 0;                   ///< Of the run.
};

/// Makes two files in `directory`, of about 260 bytes a row each, and leaves them there. Throws
/// what SteadyWriter throws.
[[nodiscard]] Result<RetentionFigures> measure_retention(std::int64_t rows,
                                                         const std::filesystem::path& directory);

/// Several lines, or one JSON object on one line.
[[nodiscard]] std::string table_of(const RetentionFigures& figures);
[[nodiscard]] std::string json_of(const RetentionFigures& figures);

}  // namespace spillway::bench
