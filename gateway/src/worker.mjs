// SPDX-License-Identifier: MIT
//
// The gateway: D1 databases behind the routes of Cloudflare's REST API.
//
//   GET  …/accounts/{account}/d1/database               the databases
//   GET  …/accounts/{account}/d1/database/{id}          one of them
//   POST …/accounts/{account}/d1/database/{id}/query    runs SQL; rows as objects
//   POST …/accounts/{account}/d1/database/{id}/raw      runs SQL; columns, and rows as arrays
//
// env.TOKEN is the bearer secret; env.DATABASES says which binding serves which id:
// {"00000000-0000-4000-8000-000000000000": "DB0"}.

import { failed, malformed, noDatabase, noRoute, ok, unauthorized } from './answers.mjs';
import { asObjects, NoAnswer, run } from './database.mjs';
import { isAuthorized } from './secret.mjs';
import { Malformed, statementsIn } from './statements.mjs';

const ROUTE = /^(?:\/client\/v4)?\/accounts\/[^/]+\/d1\/database(?:\/([^/]+)(?:\/(query|raw))?)?$/;

const description = (id, name) => ({ uuid: id, name, version: 'production' });

function list(databases) {
  const result = Object.entries(databases).map(([id, name]) => description(id, name));
  const count = result.length;
  return ok(result, { result_info: { page: 1, per_page: count, count, total_count: count } });
}

async function execute(database, body, format) {
  try {
    const results = await run(database, statementsIn(body));
    return ok(format === 'query' ? results.map(asObjects) : results);
  } catch (error) {
    if (error instanceof Malformed) return malformed(error.message);
    if (error instanceof NoAnswer) return failed(error.message, 500);
    return failed(error.message);
  }
}

async function answer(request, env) {
  // Read before anything is refused: an answer to half a request costs the caller its connection.
  const body = await request.text();
  if (!(await isAuthorized(request, env.TOKEN))) return unauthorized();
  const { pathname } = new URL(request.url);
  const route = pathname.match(ROUTE);
  const format = route?.[2];
  if (!route || request.method !== (format ? 'POST' : 'GET')) return noRoute(pathname);
  const id = route[1];
  if (!id) return list(env.DATABASES);
  const name = Object.hasOwn(env.DATABASES, id) ? env.DATABASES[id] : undefined;
  if (!name) return noDatabase(id);
  return format ? execute(env[name], body, format) : ok(description(id, name));
}

export default { fetch: answer };
