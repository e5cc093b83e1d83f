// SPDX-License-Identifier: MIT
//
//   GATEWAY_TOKEN=secret node local.mjs [--port 8787] [--databases 1] [--persist FOLDER]
//
// Serves the gateway on 127.0.0.1 until SIGTERM, SIGINT, or the end of a piped standard input, so
// that it does not outlive a program that started it and died. Says `ready URL` once it is up: the
// URL is what CLOUDFLARE_API_BASE_URL wants. Database N is 00000000-0000-4000-8000-<N, 12 digits>.

import { fstatSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startEngine } from './engine.mjs';

const usage =
  'usage: GATEWAY_TOKEN=SECRET node local.mjs [--port N] [--databases N] [--persist FOLDER]';

function fail(why) {
  console.error(`gateway: ${why}\n${usage}`);
  process.exit(2);
}

function options() {
  const text = (fallback) => ({ type: 'string', default: fallback });
  try {
    const known = { port: text('0'), databases: text('1'), persist: text('') };
    return parseArgs({ options: known }).values;
  } catch (error) {
    return fail(error.message);
  }
}

function number(name, max) {
  const text = given[name];
  if (/^\d{1,5}$/.test(text) && Number(text) <= max) return Number(text);
  return fail(`--${name}: "${text}" is no number up to ${max}`);
}

const given = options();
const token = process.env.GATEWAY_TOKEN || fail('GATEWAY_TOKEN is not set');
const starting = startEngine({
  token,
  databases: number('databases', 1000),
  port: number('port', 65535),
  folder: given.persist,
});

// Also while it starts: the engine is a process of its own that must not be left behind.
async function stop() {
  const engine = await starting;
  await engine.stop();
  process.exit(0);
}

const input = fstatSync(0);
if (input.isFIFO() || input.isSocket()) {
  process.stdin.once('close', stop).resume();
}
const { url } = await starting;
console.log(`ready ${url}`);
