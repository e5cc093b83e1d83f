// SPDX-License-Identifier: MIT
#include "retention/archive.h"
