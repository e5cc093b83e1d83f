// SPDX-License-Identifier: MIT
//
// The space that an SQLite file takes: its write-ahead log while rows are deleted, and the pages
// that are free afterwards. Nothing here is for D1, whose space is Cloudflare's.
#pragma once

#include <spillway/clock.h>
#include <spillway/database.h>
#include <spillway/status.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace spillway {
class SqliteConnection;
}

namespace spillway::retention {

/// What a run keeps the log below.
inline constexpr std::int64_t kWalBytesMax = 64LL * 1024 * 1024;

/// Watches the write-ahead log of one file, over a connection of its own, for a checkpoint cannot
/// be made inside a transaction. A file that is in another journal mode has none.
class Wal {
 public:
  /// `bytes_max` is what the log is to be kept below. kConfig and the like: as opening a file says.
  /// Nothing is created.
  [[nodiscard]] static Result<std::unique_ptr<Wal>> open(const std::string& path,
                                                         std::int64_t bytes_max = kWalBytesMax);
  ~Wal();
  Wal(const Wal&) = delete;
  Wal& operator=(const Wal&) = delete;

  /// Moves the log into the database whenever about 12 MiB are in it, without waiting for readers
  /// or writers. To be called after each transaction, by who has its automatic checkpoint switched
  /// off: that begins at 1,000 pages, in whichever commit comes then, perhaps in that of a program
  /// that should not have to wait.
  [[nodiscard]] Status move_when_due();

  /// Bytes of the log that cannot be written over yet. Below three quarters of `bytes_max` that is
  /// a look at the file's size; above it as much as can be is first moved into the database,
  /// without waiting for readers or writers, and if that is all of it, the file is made empty. What
  /// then remains is pinned by a reader.
  [[nodiscard]] Result<std::int64_t> bytes_in_use();

 private:
  Wal(std::string file, std::int64_t bytes_max, std::unique_ptr<SqliteConnection> connection);
  [[nodiscard]] Result<std::int64_t> file_bytes() const;

  std::string file_;
  std::int64_t bytes_max_;
  std::unique_ptr<SqliteConnection> connection_;
  std::int64_t calls_ = 0;  // Of move_when_due, since it last moved something.
  std::int64_t calls_until_due_ = 1;
};

struct Reclaimed {
  std::int64_t bytes = 0;
  bool is_complete = true;  ///< Nothing worth it is left.
  std::string note = {};    ///< For a person; empty: nothing to say.
};

/// Gives free pages back to the file system in steps of about `step_target`, each a short
/// transaction. Only where it is worth it: from a tenth of the file and 1 MiB on. A file that was
/// not made with auto_vacuum=INCREMENTAL keeps its pages, for later rows; the note says how many
/// bytes. `between` is called after each step with the time it took, and waits; false ends it.
/// So do a database that has too much to do and the options' deadline or stop token, which are no
/// failures: the next run goes on.
[[nodiscard]] Result<Reclaimed> reclaim(
    Database& database, const Clock& clock, std::chrono::microseconds step_target,
    const ExecuteOptions& options, const std::function<bool(std::chrono::microseconds)>& between);

}  // namespace spillway::retention
