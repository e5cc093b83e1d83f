// SPDX-License-Identifier: MIT
//
// Runs statements on a D1 binding: one transaction, one result per statement.

/** The engine did not answer, or with something that is no answer. */
export class NoAnswer extends Error {}

// The binding checks and converts the values: booleans to 0 and 1, byte arrays to blobs.
const bind = (database, { sql, params }) => {
  const { statement, params: values } = database.prepare(sql).bind(...params);
  return { sql: statement, params: values };
};

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new NoAnswer(text || 'internal error');
  }
}

/**
 * Results as {success, results: {columns, rows}, meta}. This is what D1Database.batch() sends, but
 * batch() folds rows into objects, which loses columns of the same name and those of an empty
 * result. Throws what the engine refuses, and NoAnswer.
 */
export async function run(database, statements) {
  const queries = statements.map((statement) => bind(database, statement));
  const response = await database.fetcher.fetch('http://d1/query?resultsFormat=ROWS_AND_COLUMNS', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(queries),
  });
  const answer = parsed(await response.text());
  if (answer.error) throw new Error(answer.error);
  return answer;
}

/** One result with its rows as objects; of columns of the same name the last one wins. */
export function asObjects({ results: { columns, rows }, ...rest }) {
  const object = (row) => Object.fromEntries(columns.map((column, i) => [column, row[i]]));
  return { ...rest, results: rows.map(object) };
}
