// SPDX-License-Identifier: MIT
//
// The envelope of Cloudflare's REST API, {result, success, errors, messages}, and the refusals.

export const ok = (result, more = {}) =>
  Response.json({ result, success: true, errors: [], messages: [], ...more });

const refusal = (status, code, message, result = null) =>
  Response.json({ result, success: false, errors: [{ code, message }], messages: [] }, { status });

export const unauthorized = () => refusal(401, 10000, 'Authentication error');

export const noRoute = (path) =>
  refusal(404, 7003, `Could not route to ${path}, perhaps your object identifier is invalid?`);

export const noDatabase = (id) => refusal(404, 7404, `The database ${id} could not be found`);

export const malformed = (why) => refusal(400, 7400, `The request is malformed: ${why}`);

export const tooLarge = (bytesMax) =>
  refusal(413, 7413, `The request's body is larger than ${bytesMax} bytes`);

// The binding's prefix is not part of the REST API's texts.
const said = (status, message) => refusal(status, 7500, message.replace(/^D1_ERROR: /, ''), []);

/** What the database itself refused. */
export const refused = (message) => said(400, message);

/** Nobody knows what became of the statements: the database gave no answer, or we failed. */
export const failed = (message) => said(500, message);
