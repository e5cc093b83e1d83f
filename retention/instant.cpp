// SPDX-License-Identifier: MIT
#include "retention/instant.h"
