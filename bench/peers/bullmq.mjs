import { peerPackage, versionOf } from "./peer-package.mjs";

/** @type {Record<string, object>} */
const WORKER_OPTIONS = {
  defaults: {},
  // https://api.docs.bullmq.io/interfaces/v6.WorkerOptions.html: a lock is renewed at half its duration, a job without one is
  // found stalled at one check and moved back at the next. Shorter still, a busy worker loses jobs that it runs.
  "fail-over": { lockDuration: 5_000, stalledInterval: 1_000, maxStalledCount: 1_000_000 },
};

/** @type {import("./peers.mjs").Peer} */
export const peer = {
  name: `BullMQ ${versionOf("bullmq")}`,
  module: "bullmq",
  server: "redis",
  settings: [
    {
      name: "defaults",
      note: "concurrency: all jobs",
      doneNote: "concurrency 100",
      killNote: "lockDuration 30 s, stalledInterval 30 s",
      sweepMs: 30_000,
    },
    {
      name: "fail-over",
      note: "concurrency: all jobs, lockDuration 5 s, stalledInterval 1 s",
      doneNote: "concurrency 100, lockDuration 5 s, stalledInterval 1 s",
      sweepMs: 2_500, // half a lock, when it is renewed
    },
  ],
  async open(url, queue) {
    const { Queue } = await peerPackage("bullmq");
    const jobs = new Queue(queue, { connection: { url } });
    await jobs.waitUntilReady();
    return {
      add: (names) => jobs.addBulk(names.map((name) => ({ name, data: { name } }))),
      async left() {
        const { waiting = 0, active = 0, delayed = 0, prioritized = 0 } = await jobs.getJobCounts();
        return waiting + active + delayed + prioritized;
      },
      close: () => jobs.close(),
    };
  },
};

/** @type {import("./peers.mjs").Work} */
export async function work({ url, queue, setting, concurrency, isDone, onJob }) {
  const { Worker } = await peerPackage("bullmq");
  const run = (/** @type {{ name: string }} */ { name }) => {
    onJob(name);
    return isDone ? Promise.resolve() : new Promise(() => undefined);
  };
  const worker = new Worker(queue, run, { connection: { url }, concurrency, ...WORKER_OPTIONS[setting] });
  await worker.waitUntilReady();
}
