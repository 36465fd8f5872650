import { setTimeout as sleep } from "node:timers/promises";
import { peerPackage, versionOf } from "./peer-package.mjs";

const EXPIRE_S = 30;

/** @type {Record<string, { boss: object, job: object, work: object }>} */
const OPTIONS = {
  defaults: { boss: {}, job: {}, work: {} },
  // https://timgit.github.io/pg-boss/ (constructor, send, work): half a second is the shortest poll, a second the shortest
  // maintenance. A job's time is bounded by expireIn whether or not its worker lives: an endless job is run again each time.
  "fail-over": {
    boss: { maintenanceIntervalSeconds: 1 },
    job: { expireInSeconds: EXPIRE_S, retryLimit: 1_000, retryDelay: 0 },
    work: { pollingIntervalSeconds: 0.5 },
  },
};

/** @type {import("./peers.mjs").Peer} */
export const peer = {
  name: `pg-boss ${versionOf("pg-boss")}`,
  module: "pg-boss",
  server: "postgres",
  settings: [
    {
      name: "defaults",
      note: "batchSize: all jobs (one job: a work() each)",
      doneNote: "two loops that fetch and complete 500 at a time",
      killNote: "expireIn 15 min is the only way back",
    },
    {
      name: "fail-over",
      note: "poll 0.5 s, maintenance 1 s, expireIn 30 s, which ends living jobs too",
      doneNote: "the same loops, maintenance 1 s, expireIn 30 s",
      sweepMs: (EXPIRE_S - 5) * 1_000, // later they are run again before their worker is killed
    },
  ],
  async open(url, queue, setting) {
    const boss = await openBoss(url, setting);
    await boss.createQueue(queue);
    return {
      add: (names) => boss.insert(names.map((name) => ({ name: queue, data: { name }, ...OPTIONS[setting]?.job }))),
      left: () => boss.getQueueSize(queue, { before: "completed" }),
      close: () => boss.stop({ graceful: false, close: true }),
    };
  },
};

/** An endless job keeps its `work` busy, so that one can serve a batch and no more. @type {import("./peers.mjs").Work} */
export async function work({ url, queue, setting, concurrency, isOneByOne, isDone, onJob }) {
  const boss = await openBoss(url, setting);
  if (isDone) {
    workOff(boss, queue, onJob);
    return;
  }
  const [loops, batchSize] = isOneByOne ? [concurrency, 1] : [1, concurrency];
  const run = (/** @type {{ data: { name: string } }[]} */ jobs) => {
    for (const { data } of jobs) onJob(data.name);
    return new Promise(() => undefined);
  };
  for (let i = 0; i < loops; i += 1) await boss.work(queue, { batchSize, ...OPTIONS[setting]?.work }, run);
}

/** `work` pauses between two batches; who wants speed fetches and completes himself. Two loops, so that neither side waits. */
const DONE_BATCH = 500;

/** @param {any} boss @param {string} queue @param {(name: string) => void} onJob */
function workOff(boss, queue, onJob) {
  const loop = async () => {
    for (;;) {
      const jobs = await boss.fetch(queue, { batchSize: DONE_BATCH });
      for (const { data } of jobs) onJob(data.name);
      if (jobs.length > 0)
        await boss.complete(
          queue,
          jobs.map((/** @type {{ id: string }} */ { id }) => id),
        );
      else await sleep(20);
    }
  };
  for (let i = 0; i < 2; i += 1) void loop();
}

/** @param {string} url @param {string} setting */
async function openBoss(url, setting) {
  const { default: PgBoss } = await peerPackage("pg-boss");
  const boss = new PgBoss({ connectionString: url, ...OPTIONS[setting]?.boss });
  boss.on("error", (/** @type {unknown} */ error) => console.error(error));
  await boss.start();
  return boss;
}
