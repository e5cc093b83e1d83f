// SPDX-License-Identifier: MIT
//
// Goal: the gateway tells the engine's refusals from everything else that can go wrong, and keeps
// nothing of a body that it will not run. Method: the Worker's own code in Node, with a database
// binding that answers as told.

import assert from 'node:assert/strict';
import * as nodeCrypto from 'node:crypto';
import { test } from 'node:test';

import { BODY_BYTES_MAX } from '../../gateway/src/body.mjs';
import worker from '../../gateway/src/worker.mjs';

// What workerd has and Node has not.
globalThis.crypto ??= nodeCrypto.webcrypto;
crypto.subtle.timingSafeEqual = (a, b) =>
  nodeCrypto.timingSafeEqual(new Uint8Array(a), new Uint8Array(b));
console.error = () => {};

const result = (rows) => ({ success: true, results: { columns: ['a'], rows }, meta: {} });

// A binding whose engine answers `text`.
const databaseWith = (text) => ({
  prepare: (sql) => ({ bind: (...params) => ({ statement: sql, params }) }),
  fetcher: { fetch: async () => new Response(text) },
});

const environment = (database) => ({ TOKEN: 'sesame', DATABASES: { id: 'DB' }, DB: database });

function request(body, { format = 'raw', token = 'sesame', headers = {} } = {}) {
  return new Request(`http://x/client/v4/accounts/a/d1/database/id/${format}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body,
    duplex: 'half',
  });
}

async function ask(database, body, options) {
  const response = await worker.fetch(request(body, options), environment(database));
  const { errors, result: answer } = await response.json();
  return { status: response.status, code: errors[0]?.code, message: errors[0]?.message, answer };
}

const select = JSON.stringify({ sql: 'SELECT 1' });

test('gives what the engine answers', async () => {
  const database = databaseWith(JSON.stringify([result([[1]])]));
  assert.deepEqual((await ask(database, select)).answer, [result([[1]])]);
  assert.deepEqual((await ask(database, select, { format: 'query' })).answer[0].results, [{ a: 1 }]);
});

test('tells as refused only what engine and binding say', async () => {
  const byEngine = await ask(databaseWith('{"error":"D1_ERROR: no such table: t"}'), select);
  assert.deepEqual([byEngine.status, byEngine.code], [400, 7500]);
  assert.equal(byEngine.message, 'no such table: t');
  const database = databaseWith('[]');
  database.prepare = () => {
    throw new Error('D1_TYPE_ERROR: Type "object" not supported');
  };
  assert.equal((await ask(database, select)).status, 400);
});

test('knows no outcome where the engine gives no answer', async () => {
  for (const text of ['', 'null', '1', '{}', '[]', '[null]', '[{}]', '[{"results":{}}]', '<html>']) {
    const { status, code } = await ask(databaseWith(text), select);
    assert.deepEqual([status, code], [500, 7500], text);
  }
});

test('hands on what is thrown on the way to the engine', async () => {
  const reset = databaseWith('[]');
  reset.fetcher.fetch = async () => {
    throw new Error('internal error; reference = abc');
  };
  const { status, message } = await ask(reset, select);
  assert.deepEqual([status, message], [500, 'internal error; reference = abc']);
});

test('blames itself where it fails', async () => {
  for (const database of [undefined, {}]) {
    const { status, message } = await ask(database, select);
    assert.equal(status, 500);
    assert.match(message, /^The gateway failed: /);
  }
  const response = await worker.fetch(request(select), { TOKEN: 'sesame' });
  assert.equal(response.status, 500);
});

test('calls a list of parameters malformed that no call could take', async () => {
  const params = Array(200_000).fill(1);
  const { status, code } = await ask(databaseWith('[]'), JSON.stringify({ sql: 'SELECT ?', params }));
  assert.deepEqual([status, code], [400, 7400]);
});

// A body that comes in pieces, without an end if it is not stopped.
function endless() {
  const seen = { bytes: 0 };
  const pull = (controller) => {
    seen.bytes += 1024 * 1024;
    controller.enqueue(new Uint8Array(1024 * 1024));
  };
  return { seen, stream: new ReadableStream({ pull }) };
}

test('stops reading a body that is too large, whoever sends it', async () => {
  for (const token of ['sesame', 'guess']) {
    const { seen, stream } = endless();
    const { status, code } = await ask(databaseWith('[]'), stream, { token });
    assert.deepEqual([status, code], [413, 7413]);
    assert.ok(seen.bytes <= BODY_BYTES_MAX + 4 * 1024 * 1024, String(seen.bytes));
  }
});

test('reads nothing of a body that says that it is too large', async () => {
  const { seen, stream } = endless();
  const headers = { 'content-length': String(BODY_BYTES_MAX + 1) };
  assert.equal((await ask(databaseWith('[]'), stream, { headers })).status, 413);
  assert.ok(seen.bytes <= 2 * 1024 * 1024, String(seen.bytes));
});

test('keeps texts whole that lie across two pieces', async () => {
  const bytes = new TextEncoder().encode(JSON.stringify({ sql: "SELECT '€'" }));
  const pieces = [bytes.slice(0, 18), bytes.slice(18)];
  const pull = (controller) =>
    pieces.length ? controller.enqueue(pieces.shift()) : controller.close();
  const database = databaseWith(JSON.stringify([result([])]));
  let seen;
  database.prepare = (sql) => {
    seen = sql;
    return { bind: () => ({ statement: sql, params: [] }) };
  };
  assert.equal((await ask(database, new ReadableStream({ pull }))).status, 200);
  assert.equal(seen, "SELECT '€'");
});

test('has no route without the prefix of the API, as Cloudflare', async () => {
  const bare = new Request('http://x/accounts/a/d1/database/id/raw', {
    method: 'POST',
    headers: { authorization: 'Bearer sesame' },
    body: select,
  });
  const response = await worker.fetch(bare, environment(databaseWith('[]')));
  const { errors } = await response.json();
  assert.deepEqual([response.status, errors[0].code], [404, 7003]);
});
