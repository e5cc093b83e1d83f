// SPDX-License-Identifier: MIT
#include "retention/policy.h"
