import { parseArgs } from "node:util";

export const HELP = `Usage: npm run bench -- [options]

Measures Unacked as whole processes on a broker and a database of its own, beside the raw broker (amqplib alone) and the peers
BullMQ, pg-boss and graphile-worker. Prints tables, and writes them as JSON to bench/results.

  --only NAMES     scenarios by name or number, separated by commas
  --runs N         how often each is measured (5, by turns as many as sides; 1 or 2 with --quick); the median is what counts
  --quick          in a quarter of an hour: every scenario, with fewer runs and where it must be with smaller counts
  --rehearse       every scenario once, with a tenth of the counts: whether all works here. Its figures say nothing
  --peers          beside the peers too (the default but for --quick); --no-peers without them
  --profile NAMES  keeps a CPU profile of these processes (manager, alpha) and says where; what is measured is slower then
  --out FILE       where the JSON goes (bench/results/<time>.json, and always bench/results/latest.json)
`;

export class OptionError extends Error {}

/**
 * @typedef {object} BenchOptions
 * @property {string[]} only names or numbers of scenarios; empty: all
 * @property {number | undefined} runs undefined: as many as each scenario has by itself
 * @property {boolean} quick
 * @property {boolean} rehearse
 * @property {boolean} peers
 * @property {string | undefined} out
 * @property {string | undefined} profile names of processes, separated by commas
 */

/**
 * @param {string[]} args
 * @returns {BenchOptions | "help"}
 */
export function parseBenchOptions(args) {
  const values = parse(args);
  if (values.help) return "help";
  const { quick = false, rehearse = false } = values;
  const runs = values.runs === undefined ? undefined : Number(values.runs);
  if (runs !== undefined && (!Number.isInteger(runs) || runs < 1))
    throw new OptionError(`--runs takes a whole number from 1, not ${values.runs}`);
  if (values.peers && values["no-peers"]) throw new OptionError("--peers and --no-peers do not go together");
  if (quick && rehearse) throw new OptionError("--quick and --rehearse do not go together");
  const only = (values.only ?? "").split(",").filter((name) => name !== "");
  return {
    only,
    runs,
    quick,
    rehearse,
    peers: values.peers ?? (values["no-peers"] ? false : !quick),
    out: values.out,
    profile: values.profile,
  };
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: "string" },
        runs: { type: "string" },
        quick: { type: "boolean" },
        rehearse: { type: "boolean" },
        peers: { type: "boolean" },
        "no-peers": { type: "boolean" },
        out: { type: "string" },
        profile: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new OptionError(/** @type {Error} */ (error).message);
  }
}

/**
 * @template {{ id: string, number: number }} S
 * @param {S[]} scenarios
 * @param {Pick<BenchOptions, "only">} options
 * @returns {S[]}
 */
export function chooseScenarios(scenarios, { only }) {
  const names = (/** @type {S} */ one) => [one.id, String(one.number)];
  const unknown = only.filter((name) => !scenarios.some((one) => names(one).includes(name)));
  if (unknown.length > 0) {
    const known = scenarios.map(({ id, number }) => `${number} ${id}`).join(", ");
    throw new OptionError(`There is no scenario ${unknown.join(", ")}. There are: ${known}`);
  }
  return only.length === 0 ? scenarios : scenarios.filter((one) => names(one).some((name) => only.includes(name)));
}
