// SPDX-License-Identifier: MIT
//
// Runs the gateway on this machine, over the real D1 engine: workerd, as miniflare starts it.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Log, LogLevel, Miniflare } from 'miniflare';

const sources = fileURLToPath(new URL('src/', import.meta.url));

/** The id of the database with this number: they are the same in every run. */
export const databaseId = (number) =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

// The first one is the Worker's entry.
function modules() {
  const others = readdirSync(sources).filter((name) => name !== 'worker.mjs');
  return ['worker.mjs', ...others].map((name) => ({ type: 'ESModule', path: sources + name }));
}

// miniflare removes its temporary folder, but only begins to when the process is about to end. So
// it gets one of ours to put it in, which is gone however this process ends by itself.
function useOwnTemporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-gateway-'));
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
}

/**
 * Starts it on 127.0.0.1 and gives {url, stop}. `port` 0 takes a free one. Without `folder` the
 * databases are gone when it stops. Nothing is looked up in the network. Once a process. It also
 * stops at SIGTERM and SIGINT: miniflare sees to that.
 */
export async function startEngine({ token, databases = 1, port = 0, folder = '' }) {
  useOwnTemporaryFolder();
  const ids = Array.from({ length: databases }, (_, number) => databaseId(number));
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port,
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.ERROR),
    modules: modules(),
    modulesRoot: sources,
    compatibilityDate: '2026-04-01',
    bindings: { TOKEN: token, DATABASES: Object.fromEntries(ids.map((id, i) => [id, `DB${i}`])) },
    d1Databases: Object.fromEntries(ids.map((id, i) => [`DB${i}`, id])),
    d1Persist: folder || false,
  });
  const { port: taken } = await miniflare.ready;
  return { url: `http://127.0.0.1:${taken}/client/v4`, stop: () => miniflare.dispose() };
}
