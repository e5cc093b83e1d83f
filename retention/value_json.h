// SPDX-License-Identifier: MIT
//
// A database's value as JSON that reads back as exactly the same value.
//
// Reals always have a point or an exponent, which tells them from integers. What JSON has no form
// for is an object of one member: {"real":"inf"}, {"text_hex":"ff"}, {"blob_hex":"00"}.
#pragma once

#include <spillway/database.h>

#include "base/json_writer.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace spillway::retention {

void write_json_value(JsonWriter& json, const Value& value);
/// An array.
void write_json_row(JsonWriter& json, const Row& row);

/// Empty: it is nothing that write_json_value writes.
[[nodiscard]] std::optional<Value> value_of_json(const nlohmann::json& json);
[[nodiscard]] std::optional<Row> row_of_json(const nlohmann::json& json);

}  // namespace spillway::retention
