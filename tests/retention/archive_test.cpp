// SPDX-License-Identifier: MIT
//
// Goal: whenever a run is killed, each row is in the table or in an archive, and never in both.
// Method: what a whole run writes is known byte for byte; each state that a kill can leave is made
// anew from it and settled, and the next run goes on from there.
#include "retention/archive.h"

#include <spillway/prepared_statement.h>
#include <spillway/sqlite_database.h>

#include "base/time_text.h"
#include "retention/archive_file.h"
#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace spillway::retention {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TempDir;

const std::string kFile = "logs-20260828T063512345Z-7.ndjson.gz";
const WallTime kNow = parse_time_text("2026-08-28T06:35:12.345Z").value();

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Names and contents.
std::map<std::string, std::string> files_in(const TempDir& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    files[entry.path().filename().string()] = content(entry.path().string());
  }
  return files;
}

// As zcat would give it.
std::string unzipped(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  std::array<char, 4096> piece{};
  for (int bytes = 1; bytes > 0;) {
    bytes = gzread(file, piece.data(), piece.size());
    EXPECT_GE(bytes, 0) << path;
    text.append(piece.data(), static_cast<std::size_t>(std::max(bytes, 0)));
  }
  gzclose(file);
  return text;
}

std::vector<std::int64_t> archived_in(const TempDir& directory) {
  std::vector<std::int64_t> ids;
  for (const auto& [name, bytes] : files_in(directory)) {
    if (!name.ends_with(".ndjson.gz")) {
      continue;
    }
    std::istringstream lines(unzipped(directory.path(name)));
    for (std::string line; std::getline(lines, line);) {
      ids.push_back(nlohmann::json::parse(line)["id"].get<std::int64_t>());
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Row row_of(std::int64_t id) { return {id, "row " + std::to_string(id)}; }

class RetentionArchive : public ::testing::Test {
 protected:
  std::unique_ptr<Database> new_database(const char* name) const {
    auto made = SqliteDatabase::open(databases.path(name), OpenMode::kCreate).value();
    EXPECT_TRUE(
        made->exec("CREATE TABLE logs(id INTEGER PRIMARY KEY, v);"
                   "CREATE TABLE logs_meta(key TEXT PRIMARY KEY, value)"));
    return made;
  }
  static void put(Database& into, std::int64_t first, std::int64_t last) {
    for (std::int64_t id = first; id <= last; ++id) {
      EXPECT_TRUE(
          into.prepare("INSERT INTO logs VALUES(?, 'row ' || ?1)").bind(id).run().has_value());
    }
  }
  [[nodiscard]] std::vector<std::int64_t> in_table() const {
    std::vector<std::int64_t> ids;
    for (const Row& row : database->prepare("SELECT id FROM logs ORDER BY 1").raw().value()) {
      ids.push_back(std::get<std::int64_t>(row[0]));
    }
    return ids;
  }
  void remove(std::int64_t first, std::int64_t last) const {
    EXPECT_TRUE(database->prepare("DELETE FROM logs WHERE id BETWEEN ? AND ?")
                    .bind(first, last)
                    .run()
                    .has_value());
  }

  Result<std::unique_ptr<Archive>> open_in(const std::string& where, std::int64_t number = 7) {
    return Archive::open(where, form, *database, kNow, number, {});
  }
  std::unique_ptr<Archive> open(std::int64_t number = 7) {
    return open_in(directory.path().string(), number).value();
  }
  Status settle() { return Archive::settle(directory.path().string(), form, *database, {}); }

  TempDir databases;
  TempDir directory;
  std::unique_ptr<Database> database = new_database("one");
  TableForm form{.name = "logs", .key = {"\"id\""}, .columns = {"\"id\"", "\"v\""}};
};

TEST_F(RetentionArchive, IsPlainGzipOfOneObjectARowForItsOwnerAlone) {
  using namespace std::string_literals;
  const mode_t before = ::umask(0777);
  const auto archive = open();
  EXPECT_EQ(archive->file(), "");
  EXPECT_THAT(files_in(directory), IsEmpty());
  ASSERT_TRUE(archive->add({{std::int64_t{1}, std::monostate()}, {INT64_MIN, 3.0}}).is_ok());
  ASSERT_TRUE(archive->confirm().is_ok());
  const double infinity = std::numeric_limits<double>::infinity();
  ASSERT_TRUE(archive
                  ->add({{INT64_MAX, -infinity},
                         {std::int64_t{4}, 5e-324},
                         {std::int64_t{5}, "a\0\"\n\xC3\x9C"s},
                         {std::int64_t{6}, "\xFF\x00"s},
                         {std::int64_t{7}, Blob{std::byte{0}, std::byte{0xAB}}}})
                  .is_ok());
  ::umask(before);
  EXPECT_EQ(archive->rows(), 2);
  EXPECT_EQ(archive->file(), directory.path(kFile));
  EXPECT_EQ(unzipped(directory.path(kFile)),
            "{\"id\":1,\"v\":null}\n"
            "{\"id\":-9223372036854775808,\"v\":3.0}\n"
            "{\"id\":9223372036854775807,\"v\":{\"real\":\"-inf\"}}\n"
            "{\"id\":4,\"v\":5e-324}\n"
            "{\"id\":5,\"v\":\"a\\u0000\\\"\\n\xC3\x9C\"}\n"
            "{\"id\":6,\"v\":{\"text_hex\":\"ff00\"}}\n"
            "{\"id\":7,\"v\":{\"blob_hex\":\"00ab\"}}\n");
  for (const std::string& name : {kFile, kFile + ".manifest"}) {
    struct stat info {};
    EXPECT_EQ(::stat(directory.path(name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0600U) << name;
  }
}

TEST_F(RetentionArchive, LeavesNothingOfWhatWasTakenBack) {
  const auto archive = open();
  ASSERT_TRUE(archive->add({row_of(1)}).is_ok());
  ASSERT_TRUE(archive->take_back().is_ok());
  EXPECT_THAT(files_in(directory), IsEmpty());
  EXPECT_EQ(archive->file(), "");
  ASSERT_TRUE(archive->add({row_of(1)}).is_ok());
  ASSERT_TRUE(archive->confirm().is_ok());
  const auto before = files_in(directory);
  ASSERT_TRUE(archive->add({row_of(2)}).is_ok());
  EXPECT_EQ(archive->add({row_of(3)}).code(), StatusCode::kInternal);
  ASSERT_TRUE(archive->take_back().is_ok());
  EXPECT_EQ(archive->take_back().code(), StatusCode::kInternal);
  EXPECT_EQ(archive->confirm().code(), StatusCode::kInternal);
  EXPECT_EQ(files_in(directory), before);
  EXPECT_EQ(archive->rows(), 1);
  EXPECT_EQ(archive->add({{std::int64_t{2}}}).code(), StatusCode::kLost);  // A column is missing.
  EXPECT_EQ(files_in(directory), before);
  // No database gives such a value, which stands for any that does not read back the same.
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(archive->add({{std::int64_t{2}, no_number}}).code(), StatusCode::kPermanent);
  EXPECT_EQ(files_in(directory), before);
}

// What a kill leaves: some of the manifest's bytes, some of the file's or none, and the table.
struct Killed {
  std::size_t manifest_bytes;
  std::optional<std::size_t> data_bytes;
  std::int64_t deleted;  // Rows up to this one.
};

// Of a run that archives rows 1 and 2, then 3: all states in their order, long stretches of bytes
// in steps. `sizes` are those of the manifest after each of its lines, and of the file after each
// chunk.
std::vector<Killed> killed_states(const std::vector<std::size_t>& lines,
                                  const std::vector<std::size_t>& chunks) {
  constexpr std::size_t kStep = 37;
  std::vector<Killed> states;
  const auto grow_manifest = [&](std::size_t from, std::size_t to, std::optional<std::size_t> data,
                                 std::int64_t deleted) {
    for (std::size_t bytes = from; bytes < to; bytes += kStep) {
      states.push_back({bytes, data, deleted});
    }
    states.push_back({to - 1, data, deleted});
    states.push_back({to, data, deleted});
  };
  grow_manifest(0, lines[0], std::nullopt, 0);
  std::size_t data = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto before = static_cast<std::int64_t>(2 * i);
    for (; data < chunks[i]; data += kStep) {
      states.push_back({lines[2 * i], data, before});
    }
    data = chunks[i];
    grow_manifest(lines[2 * i], lines[2 * i + 1], data, before);
    grow_manifest(lines[2 * i + 1], lines[2 * i + 2], data, before + 2);
  }
  return states;
}

TEST_F(RetentionArchive, HasEachRowThatIsGoneOnceWhereverTheRunWasKilled) {
  std::vector<std::size_t> chunks;
  {
    const auto archive = open();
    for (const std::int64_t first : {1, 3}) {
      ASSERT_TRUE(archive->add({row_of(first), row_of(first + 1)}).is_ok());
      chunks.push_back(std::filesystem::file_size(directory.path(kFile)));
      ASSERT_TRUE(archive->confirm().is_ok());
    }
  }
  const std::string data = content(directory.path(kFile));
  const std::string manifest = content(directory.path(kFile + ".manifest"));
  std::vector<std::size_t> lines;
  for (std::size_t i = 0; i < manifest.size(); ++i) {
    if (manifest[i] == '\n') {
      lines.push_back(i + 1);
    }
  }
  ASSERT_THAT(lines, SizeIs(5));
  for (const Killed& state : killed_states(lines, chunks)) {
    SCOPED_TRACE(::testing::Message() << state.manifest_bytes << " bytes of the manifest, "
                                      << state.data_bytes.value_or(0) << " of the file, "
                                      << state.deleted << " rows deleted");
    remove(1, 4);
    put(*database, state.deleted + 1, 4);
    std::filesystem::remove(directory.path(kFile));
    write_file(directory.path(kFile + ".manifest"), manifest.substr(0, state.manifest_bytes));
    if (state.data_bytes) {
      write_file(directory.path(kFile), data.substr(0, *state.data_bytes));
    }
    ASSERT_TRUE(settle().is_ok()) << settle().to_string();
    std::vector<std::int64_t> all = archived_in(directory);
    EXPECT_THAT(all, SizeIs(static_cast<std::size_t>(state.deleted)));
    const std::vector<std::int64_t> kept = in_table();
    all.insert(all.end(), kept.begin(), kept.end());
    EXPECT_THAT(all, ElementsAre(1, 2, 3, 4));
    // Nothing is left of a file without rows, except a manifest that does not say yet whose it is.
    if (state.deleted == 0 && state.manifest_bytes >= lines[0]) {
      EXPECT_THAT(files_in(directory), IsEmpty());
    }
    const auto settled = files_in(directory);
    ASSERT_TRUE(settle().is_ok());
    EXPECT_EQ(files_in(directory), settled);
  }
}

TEST_F(RetentionArchive, SettlesOnlyWhatItsOwnDatabaseAndNoRunAtWorkHasWritten) {
  const auto mine = open();
  ASSERT_TRUE(mine->add({row_of(1)}).is_ok());
  const auto before = files_in(directory);
  put(*database, 1, 1);
  ASSERT_TRUE(settle().is_ok());  // `mine` is at work.
  EXPECT_EQ(files_in(directory), before);
  ASSERT_TRUE(mine->take_back().is_ok());

  std::unique_ptr<Database> other = new_database("other");
  std::swap(database, other);
  {
    const auto theirs = open();
    ASSERT_TRUE(theirs->add({row_of(1)}).is_ok());
  }
  std::swap(database, other);
  const auto theirs = files_in(directory);
  ASSERT_TRUE(settle().is_ok());
  EXPECT_EQ(files_in(directory), theirs);
  // The same name is taken by the other database: each has its own file.
  ASSERT_TRUE(mine->add({row_of(2)}).is_ok());
  EXPECT_THAT(mine->file(), EndsWith("-7-2.ndjson.gz"));
  EXPECT_THAT(files_in(directory), SizeIs(4));
  EXPECT_EQ(content(directory.path(kFile)), theirs.at(kFile));
}

TEST_F(RetentionArchive, KeepsAChunkOfWhichOnlySomeRowsAreBack) {
  {
    const auto archive = open();
    ASSERT_TRUE(archive->add({row_of(1), row_of(2), row_of(3)}).is_ok());
  }
  put(*database, 1, 2);
  ASSERT_TRUE(settle().is_ok());
  EXPECT_THAT(archived_in(directory), ElementsAre(1, 2, 3));
  EXPECT_THAT(content(directory.path(kFile + ".manifest")), HasSubstr("{\"deleted\":1"));
}

TEST_F(RetentionArchive, StopsAtWhatIsDamagedRatherThanGuess) {
  {
    const auto archive = open();
    ASSERT_TRUE(archive->add({row_of(1)}).is_ok());
  }
  const auto whole = files_in(directory);
  std::string manifest = whole.at(kFile + ".manifest");
  manifest[manifest.size() / 2] ^= 1;
  write_file(directory.path(kFile + ".manifest"), manifest);
  EXPECT_EQ(settle().code(), StatusCode::kConfig);
  EXPECT_THAT(settle().message(), HasSubstr(kFile + ".manifest\" is damaged"));
  write_file(directory.path(kFile + ".manifest"), whole.at(kFile + ".manifest"));
  std::filesystem::resize_file(directory.path(kFile), 20);
  EXPECT_THAT(settle().message(), HasSubstr("shorter than its manifest says"));
  std::filesystem::remove(directory.path(kFile));
  // Confirmed above, as its row is not in the table: whoever moved the file knows where it is.
  EXPECT_TRUE(settle().is_ok());
}

/// While it lives, no file grows beyond `bytes`.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit{bytes, before_.rlim_max};
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    static_cast<void>(std::signal(SIGXFSZ, signal_));
  }

 private:
  rlimit before_{};
  void (*signal_)(int) = nullptr;
};

TEST_F(RetentionArchive, LeavesTheFilesAsTheyWereWhereThereIsNoRoom) {
  const auto archive = open();
  int refused = 0;
  for (rlim_t limit = 0; limit < 2'000; limit += 61) {
    const auto before = files_in(directory);
    Status status;
    {
      const FileLimit no_room(limit);
      status = archive->add({row_of(1), row_of(2)});
    }
    if (status.is_ok()) {
      ASSERT_TRUE(archive->confirm().is_ok());
      continue;
    }
    ++refused;
    EXPECT_EQ(status.code(), StatusCode::kStorageFull) << status.to_string();
    EXPECT_THAT(status.message(), HasSubstr(directory.path(kFile)));
    EXPECT_THAT(status.message(), HasSubstr("File too large"));
    EXPECT_EQ(files_in(directory), before) << limit;
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(archive->rows(), 0);
  EXPECT_THAT(archived_in(directory), SizeIs(static_cast<std::size_t>(archive->rows())));
}

TEST_F(RetentionArchive, RefusesADirectoryThatCannotHoldIt) {
  write_file(directory.path("file"), "");
  std::filesystem::create_directory(directory.path("locked"));
  std::filesystem::permissions(directory.path("locked"), std::filesystem::perms::owner_read);
  std::vector<std::array<std::string, 2>> cases = {{"missing", "does not exist; create it first"},
                                                   {"file", "is no directory"}};
  if (::geteuid() != 0) {
    cases.push_back({"locked", "cannot be written: Permission denied"});
  }
  for (const auto& [name, why] : cases) {
    for (const Status& status : {open_in(directory.path(name)).status(),
                                 Archive::settle(directory.path(name), form, *database, {})}) {
      EXPECT_EQ(status.code(), StatusCode::kConfig);
      EXPECT_THAT(status.message(), HasSubstr(name + "\" " + why));
    }
  }
}

TEST_F(RetentionArchive, FollowsNoSymbolicLinkThatStandsInItsPlace) {
  const TempDir elsewhere;
  write_file(elsewhere.path("victim"), "precious");
  for (const std::string& name : {kFile, "x" + kFile + ".manifest"}) {
    std::filesystem::create_symlink(elsewhere.path("victim"), directory.path(name));
  }
  const auto archive = open();
  ASSERT_TRUE(archive->add({row_of(1)}).is_ok());
  EXPECT_THAT(archive->file(), EndsWith("-7-2.ndjson.gz"));
  EXPECT_THAT(files_in(directory), SizeIs(4));
  ASSERT_TRUE(settle().is_ok());
  EXPECT_EQ(content(elsewhere.path("victim")), "precious");
}

TEST_F(RetentionArchive, MakesAPlainFileNameOfAnyTableName) {
  form.name = "../a b\"\xC3\x9C";
  ASSERT_TRUE(database->exec(R"(CREATE TABLE "../a b""Ü_meta"(key TEXT PRIMARY KEY, value))"));
  const auto archive = open();
  ASSERT_TRUE(archive->add({row_of(1)}).is_ok());
  EXPECT_EQ(archive->file(), directory.path("___a_b___-20260828T063512345Z-7.ndjson.gz"));
}

}  // namespace
}  // namespace spillway::retention
