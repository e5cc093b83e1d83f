// SPDX-License-Identifier: MIT
//
// What a request's body asks for: {sql, params?} or {batch: [{sql, params?}, …]} becomes a list
// of single statements.

/** The caller's mistake, told to them as "The request is malformed". */
export class Malformed extends Error {}

// One lexical element of SQL: a string, a quoted name, a comment (an open one lasts to the end), a
// word, a semicolon, or any other character.
const QUOTED = /'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)/;
const COMMENT = /--[^\n]*|\/\*[^]*?(?:\*\/|$)/;
const ELEMENT = new RegExp(`${QUOTED.source}|${COMMENT.source}|[\\w$]+|\\S`, 'g');
const isComment = (element) => element.startsWith('--') || element.startsWith('/*');
const TRIGGER = /^(?:explain (?:query plan )?)?create (?:temp |temporary )?trigger$/;
const TRIGGER_WORDS_MAX = 6;

// As sqlite3_complete() sees it: a statement ends at its semicolon, but a trigger only where
// END stands between two of them.
class Statement {
  #words = [];
  #last = '';
  #before = '';
  #isTrigger = false;

  get isEmpty() {
    return this.#words.length === 0;
  }

  take(element) {
    if (this.#words.length < TRIGGER_WORDS_MAX) {
      this.#words.push(element.toLowerCase());
      this.#isTrigger ||= TRIGGER.test(this.#words.join(' '));
    }
    this.#before = this.#last;
    this.#last = element.toLowerCase();
  }

  get endsHere() {
    return !this.#isTrigger || (this.#last === 'end' && this.#before === ';');
  }
}

/** The statements of `sql`, without those that are blank or only comments. */
export function split(sql) {
  const texts = [];
  let statement = new Statement();
  let start = 0;
  const cut = (end) => {
    if (!statement.isEmpty) texts.push(sql.slice(start, end).trim());
    statement = new Statement();
    start = end + 1;
  };
  for (const { 0: element, index } of sql.matchAll(ELEMENT)) {
    if (isComment(element)) continue;
    if (element === ';' && statement.endsHere) cut(index);
    else statement.take(element);
  }
  cut(sql.length);
  return texts;
}

// Far above D1's 100, far below what a call's arguments may be: beyond it the engine is not asked.
const PARAMS_MAX = 10_000;

// A text of several statements can have parameters for its last one only: so D1 has it. A text
// without any statement goes to the engine as it is, which knows what to say.
function statementsOf(query) {
  const { sql, params } = query ?? {};
  if (typeof sql !== 'string') throw new Malformed('sql must be a string');
  if (params !== undefined && params !== null && !Array.isArray(params)) {
    throw new Malformed('params must be an array');
  }
  if (params?.length > PARAMS_MAX) throw new Malformed(`over ${PARAMS_MAX} params`);
  const texts = split(sql);
  if (texts.length < 2) return [{ sql: texts[0] ?? sql, params: params ?? [] }];
  return texts.map((text, i) => ({ sql: text, params: i + 1 < texts.length ? [] : params ?? [] }));
}

/** The statements that the body asks for, as {sql, params}. Throws Malformed. */
export function statementsIn(body) {
  let request;
  try {
    request = JSON.parse(body);
  } catch (error) {
    throw new Malformed(error.message);
  }
  const queries = request?.batch ?? [request];
  if (!Array.isArray(queries)) throw new Malformed('batch must be an array');
  return queries.flatMap(statementsOf);
}
