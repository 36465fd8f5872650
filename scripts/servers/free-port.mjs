import { createServer } from "node:net";

// Below the range from which kernels take ports for outgoing connections (32768 on Linux, 49152 elsewhere): a server
// that is killed finds its port still free when it starts again.
const FIRST_PORT = 20_000;
const PORT_COUNT = 12_000;

/**
 * @param {number} port
 * @returns {Promise<string | null>} null when it can be taken, else the system's code: EADDRINUSE, EACCES
 */
export function whyPortIsTaken(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error) => resolve(/** @type {NodeJS.ErrnoException} */ (error).code ?? error.message));
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

/**
 * A port on which nobody listens now. Random, so that two programs that look at the same moment hardly meet; a server
 * that loses the race all the same is started again on another.
 *
 * @param {number} [preferred] taken if it is free, so that an address stays the same from one start to the next.
 */
export async function freePort(preferred) {
  if (preferred !== undefined && (await whyPortIsTaken(preferred)) === null) return preferred;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    if ((await whyPortIsTaken(port)) === null) return port;
  }
  throw new Error("No free TCP port found on 127.0.0.1 in 100 attempts.");
}
