// SPDX-License-Identifier: MIT
//
//   GATEWAY_TOKEN=secret node local.mjs [--port 8787] [--databases 1] [--persist FOLDER]
//
// Serves the gateway on 127.0.0.1 until SIGTERM, SIGINT, or the end of a piped standard input, so
// that it does not outlive a program that started it and died. Says `ready URL` once it is up: the
// URL is what CLOUDFLARE_API_BASE_URL wants. Database N is 00000000-0000-4000-8000-<N, 12 digits>.

import { fstatSync } from 'node:fs';
import { checkPort, Refusal, settingsOf } from './settings.mjs';

async function checkedSettings() {
  try {
    const settings = settingsOf(process.argv.slice(2), process.env);
    await checkPort(settings.port);
    return settings;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(`gateway: ${error.message}`);
    return process.exit(error.exitCode);
  }
}

const settings = await checkedSettings();
const { startEngine } = await import('./engine.mjs');
const starting = startEngine(settings);

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
