import { peerPackage, versionOf } from "./peer-package.mjs";

/** @type {(concurrency: number, isDone: boolean) => Record<string, object>} */
const workerOptions = (concurrency, isDone) => ({
  defaults: {},
  // Where jobs end, as https://worker.graphile.org/docs/performance says of its record; where they do not, the local queue has to hold
  // more than run at once.
  best: isDone
    ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0, maxPoolSize: concurrency + 1 }
    : { localQueue: { size: concurrency + 1 }, pollInterval: 100 },
});

/** @type {import("./peers.mjs").Peer} */
export const peer = {
  name: `graphile-worker ${versionOf("graphile-worker")}`,
  module: "graphile-worker",
  server: "postgres",
  settings: [
    {
      name: "defaults",
      note: "concurrentJobs: all jobs",
      doneNote: "concurrentJobs 100",
      killNote: "a dead worker's jobs are unlocked after 4 hours",
    },
    {
      name: "best",
      note: "localQueue: one more than all jobs, poll 0.1 s",
      doneNote: "as of its record: concurrentJobs 100, localQueue 500, batch delays 0, 101 connections",
      killNote: "an operator calls forceUnlockWorkers the moment a worker dies",
    },
  ],
  async open(url, _queue, setting) {
    const { makeWorkerUtils } = await peerPackage("graphile-worker");
    const utils = await makeWorkerUtils({ connectionString: url, logger: await silent() });
    await utils.migrate();
    const unlock = async () => {
      const sql = "SELECT DISTINCT locked_by FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL";
      const { rows } = await utils.withPgClient((/** @type {any} */ client) => client.query(sql));
      await utils.forceUnlockWorkers(rows.map((/** @type {{ locked_by: string }} */ row) => row.locked_by));
    };
    return {
      add: (names) => utils.addJobs(names.map((name) => ({ identifier: "wait", payload: { name } }))),
      ...(setting === "best" && { afterKill: unlock }),
      async left() {
        const sql = "SELECT count(*)::int AS count FROM graphile_worker._private_jobs";
        const { rows } = await utils.withPgClient((/** @type {any} */ client) => client.query(sql));
        return rows[0].count;
      },
      close: () => utils.release(),
    };
  },
};

/** @type {import("./peers.mjs").Work} */
export async function work({ url, setting, concurrency, isDone, onJob }) {
  const { run } = await peerPackage("graphile-worker");
  const wait = (/** @type {{ name: string }} */ { name }) => {
    onJob(name);
    return isDone ? Promise.resolve() : new Promise(() => undefined);
  };
  await run({
    preset: {
      worker: {
        connectionString: url,
        concurrentJobs: concurrency,
        logger: await silent(),
        ...workerOptions(concurrency, isDone)[setting],
      },
    },
    taskList: { wait },
    noHandleSignals: true,
  });
}

/** A line for each of 10,000 jobs would be measured too. */
async function silent() {
  const { Logger } = await peerPackage("graphile-worker");
  return new Logger(() => () => undefined);
}
