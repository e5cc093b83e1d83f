// SPDX-License-Identifier: MIT
//
// The schema of the log table and of TABLE_meta: the statements that make and read it, and the
// check that an existing table is of exactly this form. Pure: it runs nothing. docs/formats.md says
// why the schema is as it is.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// What `value` of the key `schema_version` in TABLE_meta says for tables of this form.
inline constexpr std::int64_t kSchemaVersion = 1;

/// The columns of the log table, in order; the first three are its key.
inline constexpr std::array<std::string_view, 7> kLogColumnNames = {
    "created_at", "writer", "seq", "level", "context", "message", "fields"};
inline constexpr std::size_t kKeyColumns = 3;

/// "l.created_at, l.writer, …" for the prefix "l.".
[[nodiscard]] std::string log_column_list(std::string_view prefix = {});

/// Creates what is missing of both tables and the version. Harmless when all is there.
[[nodiscard]] std::vector<Statement> create_statements(std::string_view table);

/// Reads both tables' form; read_statements()[3], the version, fails when TABLE_meta is missing,
/// and can be left out.
[[nodiscard]] std::vector<Statement> read_statements(std::string_view table);

/// Whether the answer to read_statements()[1] is that of a log table, exactly.
[[nodiscard]] bool is_log_table(const StatementResult& table_info);

/// What the answers to read_statements, with or without the last, say: true, all is there and as it
/// has to be; false, something is missing and can be created; kConfig, something else is in the
/// way.
[[nodiscard]] Result<bool> is_schema_complete(std::string_view table,
                                              std::span<const StatementResult> answers);

}  // namespace spillway
