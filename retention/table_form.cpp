// SPDX-License-Identifier: MIT
#include "retention/table_form.h"
