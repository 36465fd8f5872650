const onTerminal = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;

/**
 * How the scripts speak: one plain line each, coloured only where a person looks on.
 *
 * @param {string} text
 */
export const bold = (text) => (onTerminal ? `\u001b[1m${text}\u001b[22m` : text);

/** @param {string} text */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** @param {string} text */
export function complain(text) {
  process.stderr.write(process.stderr.isTTY === true && onTerminal ? `\u001b[31m${text}\u001b[39m\n` : `${text}\n`);
}

/**
 * Says what is being done, again every ten seconds while it takes that long, and the time it took.
 *
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 * @param {() => readonly string[]} [waitsFor] why it takes long, as far as is known
 * @returns {Promise<T>}
 */
export async function step(what, work, waitsFor = () => []) {
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  say(`${what} ...`);
  const remind = () => say([`${what} ... still at it after ${seconds()}`, ...waitsFor()].join("\n  "));
  const reminder = setInterval(remind, 10_000);
  try {
    const result = await work();
    say(`${what}: done in ${seconds()}`);
    return result;
  } finally {
    clearInterval(reminder);
  }
}

/** A failure whose message says all: what is wrong and what to do. A stack would only hide it. */
export class PlainError extends Error {}
