// SPDX-License-Identifier: MIT
//
// What a chunk of an archive is made of: rows, their text, and the gzip member that holds it. Pure.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::retention {

/// One JSON object a line, a member for each column. Rows have as many values as there are columns.
[[nodiscard]] std::string ndjson_of_rows(const std::vector<std::string>& columns,
                                         const std::vector<Row>& rows);
/// Empty: a line is no row of these columns.
[[nodiscard]] std::optional<std::vector<Row>> rows_of_ndjson(
    const std::vector<std::string>& columns, std::string_view text);

/// kInternal: zlib has no memory.
[[nodiscard]] Result<std::string> gzip_member(std::string_view text);
/// Empty: it is not one whole member that holds exactly `text_bytes` bytes.
[[nodiscard]] std::optional<std::string> text_of_gzip_member(std::string_view member,
                                                             std::size_t text_bytes);

/// In hex, lower case.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace spillway::retention
