// SPDX-License-Identifier: MIT
//
// The program's two voices: data on stdout, talk on stderr.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

/// Opens what of stdin, stdout and stderr was closed at start so that its use fails. Otherwise the
/// next file opened, the database, would take the place and get our output. Call it first.
void reserve_standard_files() noexcept;

/// Writes all of `text` to stdout. False if that failed; then a line on stderr says why.
[[nodiscard]] bool write_out(std::string_view text);

enum class Printed : unsigned char {
  kAll,
  kReaderGone,  ///< Nobody reads stdout any more, as behind `| head`: no error, and nothing is
                ///< said.
  kFailed,      ///< A line on stderr says why.
};

/// write_out for programs whose reader may leave when it has enough.
[[nodiscard]] Printed print_out(std::string_view text);

/// True if stdout is a terminal that is to be sent colours: NO_COLOR is not set (no-color.org), and
/// TERM is not `dumb`.
[[nodiscard]] bool is_colour_wanted();

/// The name that lines on stderr begin with, "spillway" unless it is set; a literal.
void set_program_name(const char* name) noexcept;

/// One line on stderr: the program's name, a colon and `text`, as one_line makes it.
void say(const std::string& text);
/// The same, of the lack of memory.
void say_out_of_memory() noexcept;

}  // namespace spillway
