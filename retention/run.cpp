// SPDX-License-Identifier: MIT
#include "retention/run.h"
