// SPDX-License-Identifier: MIT
//
// RowPrinter: log rows on stdout, in one of the forms of log_line.h.
#pragma once

#include "cli/log_line.h"
#include "cli/output.h"
#include "table/log_query.h"

#include <cstddef>
#include <vector>

namespace spillway {

enum class OutputForm : unsigned char { kPlain, kColoured, kJson };

class RowPrinter {
 public:
  explicit RowPrinter(OutputForm form) : form_(form) {}

  /// Prints all of them in one write. False: stdout takes no more, see `state`.
  bool print(const std::vector<LogRow>& rows);

  [[nodiscard]] Printed state() const noexcept { return state_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// Of them, those that name what is missing.
  [[nodiscard]] std::size_t gaps() const noexcept { return gaps_; }

 private:
  OutputForm form_;
  Printed state_ = Printed::kAll;
  std::size_t rows_ = 0;
  std::size_t gaps_ = 0;
};

}  // namespace spillway
