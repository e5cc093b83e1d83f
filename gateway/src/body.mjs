// SPDX-License-Identifier: MIT
//
// A request's body, read in steps: never more of it is held than we would run.

/** Many times what a client may send: 2,000,000 bytes a value, up to six for each in JSON. */
export const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** The caller's mistake, told as 413. */
export class TooLarge extends Error {}

/** What the headers say already. */
export const isAnnouncedTooLarge = (request) =>
  Number(request.headers.get('content-length')) > BODY_BYTES_MAX;

// Gives each piece to `take`, up to the limit. Throws TooLarge.
async function read(request, take) {
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.byteLength;
    if (size > BODY_BYTES_MAX) throw new TooLarge();
    take(piece);
  }
}

/** The body as text. Throws TooLarge. */
export async function textOf(request) {
  const decoder = new TextDecoder();
  const texts = [];
  await read(request, (piece) => texts.push(decoder.decode(piece, { stream: true })));
  return texts.join('') + decoder.decode();
}

/**
 * Reads the body and forgets it: an answer to half a request costs the caller its connection, and
 * then the answer too. Throws TooLarge.
 */
export const drain = (request) => read(request, () => {});
