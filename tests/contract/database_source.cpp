// SPDX-License-Identifier: MIT
#include "tests/contract/database_source.h"

#include <spillway/d1_database.h>
#include <spillway/sqlite_database.h>

#include "tests/support/real_d1.h"
#include "tests/support/scripted_d1.h"
#include "tests/support/temp_dir.h"

namespace spillway::testing {
namespace {

std::string never_absent() { return {}; }

class SqliteSource final : public DatabaseSource {
 public:
  std::unique_ptr<Database> open(Access access) override {
    const OpenMode mode = access == Access::kReadOnly ? OpenMode::kReadOnly : OpenMode::kCreate;
    return std::move(SqliteDatabase::open(directory_.path("contract.db"), mode)).value();
  }
  static std::unique_ptr<DatabaseSource> make() { return std::make_unique<SqliteSource>(); }

 private:
  TempDir directory_;
};

std::unique_ptr<Database> open_d1(D1Options options, Access access) {
  options.is_read_only = access == Access::kReadOnly;
  return std::move(D1Database::open(options)).value();
}

class ScriptedSource final : public DatabaseSource {
 public:
  std::unique_ptr<Database> open(Access access) override {
    return open_d1({.account_id = d1_.options().account_id,
                    .database_id = d1_.options().database_id,
                    .token = d1_.options().token,
                    .base_url = d1_.base_url()},
                   access);
  }
  static std::unique_ptr<DatabaseSource> make() { return std::make_unique<ScriptedSource>(); }

 private:
  ScriptedD1 d1_;
};

class RealSource final : public DatabaseSource {
 public:
  explicit RealSource(RealD1& d1) : d1_(d1), database_id_(d1.take_database()) {}
  std::unique_ptr<Database> open(Access access) override {
    return open_d1({.account_id = d1_.account_id(),
                    .database_id = database_id_,
                    .token = d1_.token(),
                    .base_url = d1_.base_url()},
                   access);
  }
  static std::unique_ptr<DatabaseSource> make() {
    RealD1* const d1 = RealD1::of_this_program();
    return d1 == nullptr ? nullptr : std::make_unique<RealSource>(*d1);
  }

 private:
  RealD1& d1_;
  std::string database_id_;
};

}  // namespace

std::vector<DatabaseKind> database_kinds() {
  return {{"Sqlite", &SqliteSource::make, &never_absent},
          {"ScriptedD1", &ScriptedSource::make, &never_absent},
          {"RealD1", &RealSource::make, &RealD1::absence}};
}

}  // namespace spillway::testing
