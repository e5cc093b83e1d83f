// SPDX-License-Identifier: MIT
//
// The API token: where it is read, what it may hold, and how it is kept out of messages.
#pragma once

#include <spillway/status.h>

#include <string>
#include <string_view>

namespace spillway {

/// The token in `text`, without the white space around it: files and copied text end in a newline.
/// kConfig: there is none, or it holds a byte that no token has (a blank, a line end, what is not
/// ASCII), which could add a header of its own to a request. The message names `source`, which says
/// where the text came from, and shows nothing of it.
[[nodiscard]] Result<std::string> usable_token(std::string_view text, std::string_view source);

/// The token that the file holds, alone. kConfig: as above, or the file cannot be read, is no
/// regular file, or is too large to hold a token.
[[nodiscard]] Result<std::string> read_token_file(const std::string& path);

/// `text` with "[token]" for each occurrence of `token`, for what follows "Bearer" unless it is a
/// short word of letters only, and for the beginning of `token` that the end of the text has cut
/// off. Servers echo what they refuse.
[[nodiscard]] std::string without_token(std::string text, std::string_view token);

/// The same for a message and those of its causes.
[[nodiscard]] Status without_token(const Status& status, std::string_view token);

}  // namespace spillway
