// SPDX-License-Identifier: MIT
//
// What D1Options say, checked, in the terms of the HTTP client; and where they come from when a URL
// names the database.
#pragma once

#include <spillway/d1_database.h>
#include <spillway/status.h>

#include "d1/d1_http.h"
#include "d1/database_url.h"

#include <string>
#include <string_view>

namespace spillway {

/// Reads the token file. kInvalidArgument, kConfig: as D1Database::open.
[[nodiscard]] Result<D1HttpOptions> d1_http_options(const D1Options& options);

/// The options for the database at `url`, with what the environment has to say: account, base URL,
/// certificates and token. The token file is not read yet, and relative paths are absolute by now.
/// kInvalidArgument: the account or the base URL of the environment cannot be used. kConfig: there
/// is no usable token.
[[nodiscard]] Result<D1Options> d1_options_for(const D1Url& url, OpenMode mode,
                                               const OpenOptions& options);

}  // namespace spillway
