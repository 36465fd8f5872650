import { parseArgs } from "node:util";

/**
 * @typedef {object} StartOptions
 * @property {number} services how many observer services
 * @property {number} workers of each service
 * @property {number} port of the page and the REST interface; 0 is any free one
 * @property {boolean} demo whether to run the small exchange and the observers on it
 * @property {boolean} fresh whether to begin with empty data
 * @property {string | null} recording a file for the exchange to replay
 * @property {string | null} observers a folder of observer types in place of the shipped ones
 */

export const HELP = `Usage: npm start -- [options]

Starts everything on this machine: PostgreSQL, RabbitMQ, the manager, observer services and a demonstration.

  --services N       observer services to start (2)
  --workers N        workers of each service: how many observers it runs at once (10)
  --port N           port of the page and the REST interface on 127.0.0.1; 0 takes any free one (8080)
  --no-demo          without the small exchange and the price-watch observers on it
  --recording FILE   lets the exchange replay a recorded file instead of a random walk
  --observers DIR    a folder of observer types of your own, in place of the shipped ones; then without the demonstration
  --fresh            empties the data of earlier starts first
  --help             this text

DATABASE_URL and AMQP_URL, if set, name a PostgreSQL and a RabbitMQ to use instead of starting them.
Data, logs and pid files are in .unacked/ in this folder.
`;

/** A mistake on the command line: its message is the whole answer, a stack would only hide it. */
export class OptionError extends Error {}

/**
 * @param {string[]} args
 * @returns {StartOptions | "help"}
 */
export function parseStartOptions(args) {
  const values = parse(args);
  if (values.help) return "help";
  return {
    services: wholeNumber("--services", values.services, 2, 0, 100),
    // 65535 is the largest prefetch that AMQP can say.
    workers: wholeNumber("--workers", values.workers, 10, 1, 65_535),
    port: wholeNumber("--port", values.port, 8080, 0, 65_535),
    // What it shows is of a shipped type.
    demo: !values["no-demo"] && values.observers === undefined,
    fresh: values.fresh ?? false,
    recording: values.recording ?? null,
    observers: values.observers ?? null,
  };
}

/** @param {string[]} args */
function parse(args) {
  try {
    const { values } = parseArgs({
      args,
      strict: true,
      allowPositionals: false,
      options: {
        services: { type: "string" },
        workers: { type: "string" },
        port: { type: "string" },
        recording: { type: "string" },
        observers: { type: "string" },
        "no-demo": { type: "boolean" },
        fresh: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    return values;
  } catch (error) {
    // Node's own message names the option; what follows its first sentence is advice on positionals.
    const [sentence] = /** @type {Error} */ (error).message.split(/\. |\n/);
    throw new OptionError(`${sentence}. Options: npm start -- --help`);
  }
}

/**
 * @param {string} name
 * @param {string | undefined} text
 * @param {number} fallback
 * @param {number} least
 * @param {number} most
 */
function wholeNumber(name, text, fallback, least, most) {
  if (text === undefined) return fallback;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new OptionError(
    `${name} takes a whole number from ${least} to ${most}, not "${text}". Options: npm start -- --help`,
  );
}
