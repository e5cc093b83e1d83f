// SPDX-License-Identifier: MIT
#include "cli/row_printer.h"

#include <string>

namespace spillway {

bool RowPrinter::print(const std::vector<LogRow>& rows) {
  const Colour colour = form_ == OutputForm::kColoured ? Colour::kOn : Colour::kOff;
  std::string text;
  for (const LogRow& row : rows) {
    text += form_ == OutputForm::kJson ? log_json(row) : log_line(row, colour);
    ++rows_;
    gaps_ += is_gap_row(row) ? 1U : 0U;
  }
  if (state_ == Printed::kAll) {
    state_ = print_out(text);
  }
  return state_ == Printed::kAll;
}

}  // namespace spillway
