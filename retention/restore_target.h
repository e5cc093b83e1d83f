// SPDX-License-Identifier: MIT
//
// RestoreTarget: the table that rows of an archive are put into, and how.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "retention/archive.h"
#include "retention/archive_manifest.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spillway::retention {

class RestoreTarget {
 public:
  /// kSchema: there is no such table. kInvalidArgument: it lacks a column of the archive, or its
  /// key is another, so that nobody could tell which rows are there.
  [[nodiscard]] static Result<RestoreTarget> open(const ArchiveHeader& header,
                                                  const std::string& table, Database& database,
                                                  const ExecuteOptions& options);

  /// Puts in the rows whose keys are not there, in one transaction, or in several if the database
  /// takes fewer at a time or refuses some.
  [[nodiscard]] Result<Restored> put(std::span<const Row> rows) const;

 private:
  RestoreTarget(Database& database, ExecuteOptions options)
      : database_(database), options_(std::move(options)) {}

  [[nodiscard]] Result<Restored> put_halves(std::span<const Row> rows) const;
  [[nodiscard]] Result<Restored> counted(std::span<const Row> rows, std::int64_t inserted) const;
  /// For each stretch of rows that one text of SQL can take, a statement.
  template <typename Sql>
  [[nodiscard]] std::vector<Statement> statements(std::span<const Row> rows, Sql&& sql) const;
  [[nodiscard]] std::string insert_text(const std::vector<std::string>& values) const;
  [[nodiscard]] std::string comparison_text(const std::vector<std::string>& values) const;

  Database& database_;
  ExecuteOptions options_;
  std::string table_ = {};                 // Quoted.
  std::vector<std::string> columns_ = {};  // Quoted.
  std::vector<bool> is_key_ = {};          // Of each column.
  std::optional<Statement> mark_ = {};     // Says that rows came back, where runs look for it.
};

}  // namespace spillway::retention
