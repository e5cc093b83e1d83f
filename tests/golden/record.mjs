// SPDX-License-Identifier: MIT
//
//   node tests/golden/record.mjs [FILE]
//
// Asks D1's real engine, behind our gateway, what is in cases.jsonl, all in one database and in
// order, and writes the answers to FILE, or to answers.jsonl beside this script. Needs
// `./dev gateway`.
//
// A case is {case, sql, params?} or {case, batch: [{sql, params?}, …]}, where {{x*3}} in a text
// stands for xxx. An answer is {case, results: [{columns, rows, meta}, …]} or {case, status, code,
// message}. Left out is what is another one each time: durations, sizes, who served it, and the
// references of errors.

import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { databaseId, startEngine } from '../../gateway/engine.mjs';

const beside = (name) => new URL(name, import.meta.url);
const STABLE = ['changes', 'last_row_id', 'changed_db', 'rows_read', 'rows_written'];

const expand = (text) => text.replace(/\{\{(.)\*(\d+)\}\}/gu, (_, unit, n) => unit.repeat(n));
const parse = (line) => JSON.parse(line, (_, v) => (typeof v === 'string' ? expand(v) : v));

const stable = ({ results: { columns, rows }, meta }) => ({
  columns,
  rows,
  meta: Object.fromEntries(STABLE.map((name) => [name, meta[name]])),
});

async function ask(url, token, request) {
  const response = await fetch(`${url}/accounts/golden/d1/database/${databaseId(0)}/raw`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  const { success, result, errors } = await response.json();
  if (success) return { results: result.map(stable) };
  const [{ code, message }] = errors;
  return { status: response.status, code, message: message.replace(/(?<=reference) = \w+/, '') };
}

const token = randomUUID();
const engine = await startEngine({ token });
const lines = [];
for (const line of readFileSync(beside('cases.jsonl'), 'utf8').trimEnd().split('\n')) {
  const { case: name, ...request } = parse(line);
  const answer = { case: name, ...(await ask(engine.url, token, request)) };
  lines.push(JSON.stringify(answer));
}
await engine.stop();
writeFileSync(process.argv[2] ?? beside('answers.jsonl'), `${lines.join('\n')}\n`);
