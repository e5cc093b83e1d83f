// SPDX-License-Identifier: MIT
//
// The gateway: D1 databases behind the routes of Cloudflare's REST API.
//
//   GET  /client/v4/accounts/{account}/d1/database      the databases
//   GET  …/d1/database/{id}                             one of them
//   POST …/d1/database/{id}/query                       runs SQL; rows as objects
//   POST …/d1/database/{id}/raw                         runs SQL; columns, and rows as arrays
//
// env.TOKEN is the bearer secret; env.DATABASES says which binding serves which id:
// {"00000000-0000-4000-8000-000000000000": "DB0"}.

import { failed, malformed, noDatabase, noRoute, ok } from './answers.mjs';
import { refused, tooLarge, unauthorized } from './answers.mjs';
import { BODY_BYTES_MAX, drain, isAnnouncedTooLarge, textOf, TooLarge } from './body.mjs';
import { asObjects, NoAnswer, Refused, run } from './database.mjs';
import { isAuthorized } from './secret.mjs';
import { Malformed, statementsIn } from './statements.mjs';

const ROUTE = /^\/client\/v4\/accounts\/[^/]+\/d1\/database(?:\/([^/]+)(?:\/(query|raw))?)?$/;

const description = (id, name) => ({ uuid: id, name, version: 'production' });

function list(databases) {
  const result = Object.entries(databases).map(([id, name]) => description(id, name));
  const count = result.length;
  return ok(result, { result_info: { page: 1, per_page: count, count, total_count: count } });
}

async function execute(database, body, format) {
  const results = await run(database, statementsIn(body));
  return ok(format === 'query' ? results.map(asObjects) : results);
}

// Only what the engine itself said is told as its refusal: a caller takes that for final.
function answerTo(error) {
  if (error instanceof TooLarge) return tooLarge(BODY_BYTES_MAX);
  if (error instanceof Malformed) return malformed(error.message);
  if (error instanceof Refused) return refused(error.message);
  if (error instanceof NoAnswer) return failed(error.message);
  console.error(error);
  return failed(`The gateway failed: ${error.message}`);
}

// What the request asks for, as a function of its body, or the refusal that its head brings.
async function route(request, env) {
  if (!(await isAuthorized(request, env.TOKEN))) return unauthorized();
  const { pathname } = new URL(request.url);
  const match = pathname.match(ROUTE);
  const [, id, format] = match ?? [];
  if (!match || request.method !== (format ? 'POST' : 'GET')) return noRoute(pathname);
  if (!id) return list(env.DATABASES);
  const name = Object.hasOwn(env.DATABASES, id) ? env.DATABASES[id] : undefined;
  if (!name) return noDatabase(id);
  return format ? (body) => execute(env[name], body, format) : ok(description(id, name));
}

// The head decides before any of the body is kept.
async function answer(request, env) {
  try {
    if (isAnnouncedTooLarge(request)) throw new TooLarge();
    const answerOrQuery = await route(request, env);
    if (typeof answerOrQuery === 'function') return await answerOrQuery(await textOf(request));
    await drain(request);
    return answerOrQuery;
  } catch (error) {
    return answerTo(error);
  }
}

export default { fetch: answer };
