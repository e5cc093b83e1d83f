// SPDX-License-Identifier: MIT
//
// Goal: what the gateway on one's own machine cannot use is refused in one line that names it.
// Method: run local.mjs; it refuses before it loads the engine, which need not be installed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../gateway/local.mjs', import.meta.url));

function run(args, token) {
  const env = { ...process.env, GATEWAY_TOKEN: token };
  const child = spawn(process.execPath, [program, ...args], { env });
  let text = '';
  child.stderr.on('data', (piece) => (text += piece));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, text })));
}

test('says in one line that the port is in use', async () => {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  assert.deepEqual(await run(['--port', String(port)], 'sesame'), {
    code: 1,
    text: `gateway: port ${port} is in use\n`,
  });
  server.close();
});

test('refuses a token that no header carries, without showing it', async () => {
  for (const token of ['ses\name', 'ses\x7fame', 'ses ame', 'sesame\r', 'sésame']) {
    const { code, text } = await run([], token);
    assert.equal(code, 2);
    assert.match(text, /^gateway: GATEWAY_TOKEN holds [^\n]+\n$/);
    assert.doesNotMatch(text, /ame/);
  }
});

test('refuses an empty token', async () => {
  const { code, text } = await run([], '');
  assert.equal(code, 2);
  assert.match(text, /^gateway: GATEWAY_TOKEN is not set; usage: [^\n]+\n$/);
});

test('refuses numbers out of their bounds', async () => {
  for (const [name, value, bounds] of [
    ['databases', '0', '1 to 1000'],
    ['databases', '1001', '1 to 1000'],
    ['port', '65536', '0 to 65535'],
    ['port', '-', '0 to 65535'],
  ]) {
    assert.deepEqual(await run([`--${name}=${value}`], 'sesame'), {
      code: 2,
      text: `gateway: --${name}: "${value}" is no number from ${bounds}\n`,
    });
  }
});

test('refuses an option that it does not know', async () => {
  const { code, text } = await run(['--x'], 'sesame');
  assert.equal(code, 2);
  assert.match(text, /^gateway: [^\n]*--x[^\n]*usage: [^\n]+\n$/);
});
