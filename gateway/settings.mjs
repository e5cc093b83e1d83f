// SPDX-License-Identifier: MIT
//
// What local.mjs was told, checked before the engine is loaded: a refusal is one line.

import { createServer } from 'node:net';
import { parseArgs } from 'node:util';

const usage =
  'usage: GATEWAY_TOKEN=SECRET node local.mjs [--port N] [--databases N] [--persist FOLDER]';

/** Its message is for the user, and ends the program with `exitCode`. */
export class Refusal extends Error {
  constructor(message, exitCode = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

function valuesOf(args) {
  const text = (fallback) => ({ type: 'string', default: fallback });
  const options = { port: text('0'), databases: text('1'), persist: text('') };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new Refusal(`${error.message}; ${usage}`);
  }
}

function number(name, text, min, max) {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= min && value <= max) return value;
  throw new Refusal(`--${name}: "${text}" is no number from ${min} to ${max}`);
}

// A client trims its token, and a header carries nothing but these bytes.
function checkedToken(token) {
  if (!token) throw new Refusal(`GATEWAY_TOKEN is not set; ${usage}`);
  if (/[^\x21-\x7e]/.test(token)) {
    throw new Refusal(
      'GATEWAY_TOKEN holds a blank, a line end, another control character or one outside ASCII',
    );
  }
  return token;
}

/** {token, databases, port, folder}, or a Refusal. */
export function settingsOf(args, environment) {
  const given = valuesOf(args);
  return {
    token: checkedToken(environment.GATEWAY_TOKEN),
    databases: number('databases', given.databases, 1, 1000),
    port: number('port', given.port, 0, 65535),
    folder: given.persist,
  };
}

/** The engine says of a port in use only that it did not start. */
export async function checkPort(port) {
  const server = createServer();
  await new Promise((resolve, reject) => {
    server.once('error', (error) => reject(refusedPort(port, error)));
    server.listen(port, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}

function refusedPort(port, error) {
  const why = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used: ${error.message}`;
  return new Refusal(`port ${port} ${why}`, 1);
}
