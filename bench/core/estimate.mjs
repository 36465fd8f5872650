/**
 * How long each scenario takes on two calm cores, in seconds: what is done once, each run, the peers, and the whole of it with
 * --quick. Only for what is said while one waits.
 *
 * @type {Record<string, { once: number, run: number, peers: number, quick: number }>}
 */
const LASTS_S = {
  create: { once: 5, run: 11, peers: 150, quick: 18 },
  "one-create": { once: 4, run: 110, peers: 400, quick: 75 },
  kill: { once: 18, run: 24, peers: 560, quick: 20 },
  stop: { once: 4, run: 8, peers: 0, quick: 16 },
  sigterm: { once: 10, run: 8, peers: 0, quick: 20 },
  "broker-restart": { once: 10, run: 16, peers: 0, quick: 20 },
  "hundred-thousand": { once: 0, run: 90, peers: 0, quick: 16 },
  idle: { once: 160, run: 0, peers: 270, quick: 26 },
  slots: { once: 60, run: 75, peers: 0, quick: 110 },
  tasks: { once: 330, run: 60, peers: 480, quick: 75 },
  "task-limit": { once: 0, run: 60, peers: 0, quick: 90 },
  "tasks-in-batches": { once: 0, run: 150, peers: 0, quick: 160 },
  "tasks-by-turns": { once: 0, run: 136, peers: 560, quick: 40 },
  "kill-beside-tasks": { once: 15, run: 40, peers: 0, quick: 45 },
  fleet: { once: 900, run: 0, peers: 0, quick: 180 },
  throughput: { once: 8, run: 24, peers: 0, quick: 22 },
};

/**
 * @param {string} id of a scenario
 * @param {{ runs: number, quick: boolean, rehearse: boolean, hasPeers: boolean }} how
 * @returns {number} seconds; 0 of one that is not known
 */
export function estimateS(id, { runs, quick, rehearse, hasPeers }) {
  const lasts = LASTS_S[id];
  if (lasts === undefined) return 0;
  const peers = hasPeers ? lasts.peers : 0;
  if (quick || rehearse) return lasts.quick + peers / 5;
  return lasts.once + runs * lasts.run + peers;
}

/** "about 31 min", "about 40 s". @param {number} seconds */
export const about = (seconds) =>
  seconds < 90 ? `about ${Math.round(seconds)} s` : `about ${Math.round(seconds / 60)} min`;
