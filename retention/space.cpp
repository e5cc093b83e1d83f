// SPDX-License-Identifier: MIT
#include "retention/space.h"
