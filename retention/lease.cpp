// SPDX-License-Identifier: MIT
#include "retention/lease.h"
