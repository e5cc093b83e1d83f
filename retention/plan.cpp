// SPDX-License-Identifier: MIT
#include "retention/plan.h"
