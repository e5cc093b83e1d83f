// SPDX-License-Identifier: MIT
//
// Archive: the rows of one run in a file, on disk and proven, before they are deleted.
//
// A run writes DIR/TABLE-TIME-NUMBER.ndjson.gz, one gzip member for each chunk (zcat reads it
// whole), each row one JSON object; and beside it …ndjson.gz.manifest, one JSON object a line: what
// each chunk holds (rows, first and last key, place and length in the file, SHA-256 of the text),
// and, once the rows are gone, that they are. Both are mode 0600.
//
// The order makes it safe to be killed at any point: chunk, fsync, read again and compare, manifest
// line, fsync, then the DELETE, then the line that says so. `settle` looks at what an earlier run
// left behind: a chunk without that line is cut off again if its rows are still in the table.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/status.h>

#include "retention/table_form.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spillway::retention {

class Archive {
 public:
  /// Creates nothing yet: the file is made with the first chunk. `number` is the lease's, which no
  /// other run for this table has. kConfig: the directory is missing or cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<Archive>> open(const std::string& directory,
                                                             const TableForm& form,
                                                             Database& database, WallTime now,
                                                             std::int64_t number,
                                                             const ExecuteOptions& options);
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// Writes and proves one chunk: values of `form.columns`, in the order of the key. Not empty. On
  /// failure the file is as it was before. kStorageFull: there is no room; kConfig: it cannot be
  /// written; kPermanent: it does not read back the same.
  [[nodiscard]] Status add(const std::vector<Row>& rows);
  /// The rows of the last chunk are deleted.
  [[nodiscard]] Status confirm();
  /// They are not, and stay in the table: the chunk is cut off again.
  [[nodiscard]] Status take_back();

  [[nodiscard]] const std::string& file() const noexcept;  ///< Empty: none was made.
  [[nodiscard]] std::int64_t rows() const noexcept;        ///< Confirmed.

  /// Settles what killed runs for this table left in `directory`, by asking whether the first and
  /// the last row of an unconfirmed chunk are still in the table. What belongs to a table of the
  /// same name in another database, or to a run that is at work, is left alone. kConfig: as open,
  /// or an archive of this table is damaged. Call it under the lease.
  [[nodiscard]] static Status settle(const std::string& directory, const TableForm& form,
                                     Database& database, const ExecuteOptions& options);

 private:
  struct Impl;
  explicit Archive(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct Restored {
  std::int64_t rows = 0;           ///< Put back.
  std::int64_t already_there = 0;  ///< Their keys are in the table with the same contents.
  std::int64_t conflicting = 0;    ///< Their keys are in the table with other contents, or a
                                   ///< constraint keeps them out; left as they are.

  [[nodiscard]] friend bool operator==(const Restored& a, const Restored& b) = default;
};

/// Puts the rows of an archive back into the table that it names, or into `table` if that is not
/// empty, after checking all of the file against its manifest: a single wrong byte, and nothing is
/// put back. Rows whose keys are there are left. Afterwards the next run makes a full walk
/// (restored_statement). `on_progress` is told the rows so far.
///
/// kConfig: a file cannot be read. kPermanent: one is damaged, or a killed run left it unsettled.
/// kOverload: a run is writing it. kSchema: there is no such table. kInvalidArgument: the table has
/// not the archive's columns or key. Else what the database says; rows may be back by then.
[[nodiscard]] Result<Restored> restore(const std::string& file, const std::string& table,
                                       Database& database, const ExecuteOptions& options,
                                       const std::function<void(std::int64_t)>& on_progress);

}  // namespace spillway::retention
