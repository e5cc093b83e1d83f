// SPDX-License-Identifier: MIT
#include "retention/table_id.h"

#include "d1/execute_all.h"

#include <array>
#include <cstddef>
#include <random>

namespace spillway::retention {
namespace {

std::string random_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr int kIdDigits = 32;
  std::random_device device;
  std::string id;
  for (int i = 0; i < kIdDigits; ++i) {
    id += kDigits[device() % kDigits.size()];
  }
  return id;
}

}  // namespace

Result<std::string> table_id_of(Database& database, const std::string& meta,
                                const ExecuteOptions& options) {
  const std::array<Statement, 2> statements{
      Statement{"INSERT INTO " + meta +
                    "(key, value) VALUES('retention_id', ?) ON CONFLICT(key) DO NOTHING",
                {{random_id()}}},
      Statement{"SELECT value FROM " + meta + " WHERE key = 'retention_id'"}};
  ExecuteOptions repeatable = options;
  repeatable.is_idempotent = true;
  const auto answers = execute_all(database, statements, repeatable);
  if (!answers) {
    return answers.error();
  }
  const std::vector<Row>& rows = (*answers)[1].rows;
  const auto* const id =
      rows.size() == 1 && rows[0].size() == 1 ? std::get_if<std::string>(rows[0].data()) : nullptr;
  if (id == nullptr) {
    return Status(StatusCode::kPermanent,
                  "retention_id in " + meta + " is no text; delete it, and another is made");
  }
  return *id;
}

std::string plain_column_name(std::string_view name) {
  if (!name.starts_with('"')) {
    return std::string(name);
  }
  std::string plain;
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    plain += name[i];
    i += name[i] == '"' ? 1U : 0U;  // Quotes in it come twice.
  }
  return plain;
}

}  // namespace spillway::retention
