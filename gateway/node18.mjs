// SPDX-License-Identifier: MIT
//
// What miniflare takes for granted since Node 20 and Debian 12's Node 18 keeps in a module. To be
// imported before it.

import * as buffer from 'node:buffer';

globalThis.File ??= buffer.File;
