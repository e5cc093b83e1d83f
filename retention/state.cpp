// SPDX-License-Identifier: MIT
#include "retention/state.h"
