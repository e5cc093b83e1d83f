// SPDX-License-Identifier: MIT
#include "retention/chunk_size.h"
