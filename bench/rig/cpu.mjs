import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs, cpuMsWithChildren } from "./proc.mjs";

/**
 * How much CPU each used while `work` was done, in ms.
 *
 * @template {string} Name
 * @template T
 * @param {Record<Name, () => number>} meters CPU time so far, in ms
 * @param {() => Promise<T>} work
 * @returns {Promise<{ result: T, spentMs: Record<Name, number> }>}
 */
export async function cpuSpent(meters, work) {
  const entries = /** @type {[Name, () => number][]} */ (Object.entries(meters));
  const before = entries.map(([, soFarMs]) => soFarMs());
  const result = await work();
  const spent = entries.map(([name, soFarMs], index) => [name, soFarMs() - Number(before[index])]);
  return { result, spentMs: /** @type {Record<Name, number>} */ (Object.fromEntries(spent)) };
}

/**
 * How much of one core each used over the time, in percent.
 *
 * @template {string} Name
 * @param {number} windowMs
 * @param {Record<Name, () => number>} meters CPU time so far, in ms
 */
export async function shareOfCore(windowMs, meters) {
  const { spentMs } = await cpuSpent(meters, () => sleep(windowMs));
  for (const name of /** @type {Name[]} */ (Object.keys(spentMs))) spentMs[name] = (spentMs[name] * 100) / windowMs;
  return spentMs;
}

/**
 * Of one of so many that were done meanwhile, in µs.
 *
 * @template {string} Name
 * @param {Record<Name, number>} spentMs
 * @param {number} done
 */
export function eachUs(spentMs, done) {
  const entries = /** @type {[Name, number][]} */ (Object.entries(spentMs));
  return /** @type {Record<Name, number>} */ (Object.fromEntries(entries.map(([name, ms]) => [name, (ms * 1_000) / done])));
}

/** The benchmark itself, where it adds what is done: a client's part, which is counted of both sides. */
export function ownCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * Of all that a figure of Unacked's own passes through.
 *
 * @param {import("./rig.mjs").Rig} rig
 * @param {{ manager: { pid: number } }} system
 * @param {{ pid: number }} service
 */
export const partsOf = (rig, system, service) => ({
  manager: () => cpuMs(system.manager.pid),
  service: () => cpuMsWithChildren(service.pid), // with its slots
  broker: () => cpuMs(rig.broker.pid),
  database: () => cpuMsWithChildren(rig.database.pid),
});

/** What each part spends on it: what bounds a figure where the cores are busy. @param {string} what */
export const spentFigures = (what) => ({
  "cpu-manager": spent(`${what}: CPU of the manager`),
  "cpu-service": spent(`${what}: CPU of the service`),
  "cpu-broker": spent(`${what}: CPU of the broker`),
  "cpu-database": spent(`${what}: CPU of PostgreSQL`),
});

/** @param {string} title @returns {import("../core/tally.mjs").FigureAbout} */
const spent = (title) => ({ title, unit: "ms", better: "less", isLoose: true });

/** @param {Record<"manager" | "service" | "broker" | "database", number>} spentMs */
export const spentValues = ({ manager, service, broker, database }) => ({
  "cpu-manager": manager,
  "cpu-service": service,
  "cpu-broker": broker,
  "cpu-database": database,
});
