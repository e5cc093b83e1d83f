// SPDX-License-Identifier: MIT
//
// Whether node_modules/ is what package-lock.json says, the engine's binary for this machine
// included; else it says what is not, and ends with 1. It asks npm's own record, so that it does not
// matter who ran npm.

import { existsSync, readFileSync } from 'node:fs';

const packagesOf = (path) =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).packages;

function differences() {
  const { '': _, ...wanted } = packagesOf('package-lock.json');
  const found = packagesOf('node_modules/.package-lock.json');
  const isMissing = ([path, { optional }]) => !found[path] && !optional;
  const isOther = ([path, { version }]) => found[path] && found[path].version !== version;
  return Object.entries(wanted)
    .filter((entry) => isMissing(entry) || isOther(entry))
    .map(([path]) => path);
}

// `workerd` looks for the package of this platform, and gives the path in it.
async function binary() {
  const { default: { default: path } } = await import('workerd');
  return path;
}

try {
  const missing = differences();
  if (missing.length > 0) throw new Error(`missing or of another version: ${missing.join(', ')}`);
  const path = await binary();
  if (!existsSync(path)) throw new Error(`missing: ${path}`);
} catch (error) {
  console.error(`gateway: ${error.message}`);
  process.exit(1);
}
