// SPDX-License-Identifier: MIT
//
// What an answer of D1's /raw says. Nothing counts as a success unless the answer is whole: each
// member of the batch has its result, in the form that was asked for.
#pragma once

#include <spillway/database.h>
#include <spillway/status.h>

#include "d1/exact_select.h"
#include "d1/http_answer.h"

#include <functional>
#include <span>
#include <vector>

namespace spillway {

/// One result for each member of the batch, whose values are in the forms that `forms` has for its
/// columns. The columns of a wrapped one have names of no use, or none where it gave no rows.
///
/// A failure is classified by classify(); an answer that cannot be understood is kLost, unless its
/// HTTP status says more. What says success under an HTTP status that does not may have been
/// executed. `is_over` is asked now and then while a large answer is read: true ends that (kLost).
[[nodiscard]] Result<std::vector<StatementResult>> read_answer(
    const HttpAnswer& answer, std::span<const CellForms> forms,
    const std::function<bool()>& is_over = {});

}  // namespace spillway
