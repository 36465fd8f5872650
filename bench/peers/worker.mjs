import { reporter } from "../meter/reporter.mjs";

/** A peer's worker in a process of its own: `node worker.mjs MODULE QUEUE SETTING CONCURRENCY [one-by-one | done]`, PEER_URL. */
const [module = "", queue = "", setting = "", concurrency = "1", how] = process.argv.slice(2);
/** @type {{ work: import("./peers.mjs").Work }} */
const { work } = await import(`./${module}.mjs`);
const isOneByOne = how === "one-by-one";
await work({
  url: process.env.PEER_URL ?? "",
  queue,
  setting,
  concurrency: Number(concurrency),
  isOneByOne,
  isDone: how === "done",
  onJob: (name) => reporter.started(isOneByOne ? name : undefined),
});
console.log("ready");
