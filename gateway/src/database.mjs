// SPDX-License-Identifier: MIT
//
// Runs statements on a D1 binding: one transaction, one result per statement.

/** The engine, or the binding before it, will not have these statements. */
export class Refused extends Error {}

/** The engine did not answer, or with something that is no answer. */
export class NoAnswer extends Error {}

// The binding checks and converts the values: booleans to 0 and 1, byte arrays to blobs. What it
// says of them begins with D1_; anything else that it throws is a defect, of ours perhaps.
function bind(database, { sql, params }) {
  try {
    const { statement, params: values } = database.prepare(sql).bind(...params);
    return { sql: statement, params: values };
  } catch (error) {
    throw /^D1_\w+: /.test(error.message) ? new Refused(error.message) : error;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new NoAnswer(text || 'internal error');
  }
}

// What is thrown on the way is D1's own word: that the database was reset, say.
async function ask(fetcher, body) {
  const headers = { 'content-type': 'application/json' };
  try {
    const url = 'http://d1/query?resultsFormat=ROWS_AND_COLUMNS';
    return await (await fetcher.fetch(url, { method: 'POST', headers, body })).text();
  } catch (error) {
    throw new NoAnswer(error.message);
  }
}

const isResult = (result) =>
  Array.isArray(result?.results?.columns) && Array.isArray(result.results.rows);

// A list of one result per statement, or {error}.
function resultsIn(answer, count) {
  if (typeof answer?.error === 'string') throw new Refused(answer.error);
  if (Array.isArray(answer) && answer.length === count && answer.every(isResult)) return answer;
  throw new NoAnswer('the engine answered something that is no list of results');
}

/**
 * Results as {success, results: {columns, rows}, meta}. This is what D1Database.batch() sends, but
 * batch() folds rows into objects, which loses columns of the same name and those of an empty
 * result. Throws Refused and NoAnswer.
 */
export async function run(database, statements) {
  const queries = statements.map((statement) => bind(database, statement));
  return resultsIn(parsed(await ask(database.fetcher, JSON.stringify(queries))), queries.length);
}

/** One result with its rows as objects; of columns of the same name the last one wins. */
export function asObjects({ results: { columns, rows }, ...rest }) {
  const object = (row) => Object.fromEntries(columns.map((column, i) => [column, row[i]]));
  return { ...rest, results: rows.map(object) };
}
