import { setTimeout as sleep } from "node:timers/promises";
import { PlainError, say } from "../progress.mjs";

const PATIENCE_MS = 300_000; // of a machine that does much else

/**
 * @typedef {{ name: string, status: string, service: { name: string } | null }} Observer
 * @typedef {{ id: string, name: string, state: string, running: number, workerCount: number }} Service
 */

/**
 * A manager that runs in a container, as somebody outside would use it.
 *
 * @param {string} url
 * @param {Record<string, string>} [headers]
 */
export function managerApi(url, headers = {}) {
  /** @param {string} path */
  async function get(path) {
    const answer = await fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new PlainError(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  }

  /** @param {string} path @param {unknown} body */
  async function post(path, body) {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    if (!answer.ok) throw new PlainError(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
  }

  /** @returns {Promise<Observer[]>} */
  const observers = async () => /** @type {any} */ (await (await get("/api/v1/observers?limit=500")).json()).items;
  /** @returns {Promise<Service[]>} */
  const services = async () => /** @type {any} */ (await (await get("/api/v1/services")).json()).items;

  return { get, post, observers, services };
}

/**
 * Waits for something that is to come true, and says how long it took.
 *
 * @param {string} what
 * @param {() => Promise<true | string>} look what it is instead
 */
export async function comesTrue(what, look) {
  const startedAt = performance.now();
  for (;;) {
    const found = await look().catch((error) => String(/** @type {Error} */ (error).message));
    const passed = performance.now() - startedAt;
    if (found === true) return say(`✓ ${what} (${(passed / 1_000).toFixed(1)} s)`);
    if (passed > PATIENCE_MS) throw new PlainError(`Not so after ${PATIENCE_MS / 1_000} s: ${what}. Instead: ${found}`);
    await sleep(200);
  }
}

/**
 * @param {ReturnType<typeof managerApi>} manager
 * @param {string[]} names
 * @param {(service: string) => boolean} [where]
 * @returns {Promise<true | string>}
 */
export async function allRun(manager, names, where = () => true) {
  const found = await manager.observers();
  const isWell = (/** @type {string} */ name) => {
    const { status, service } = found.find((each) => each.name === name) ?? {};
    return status === "Processing" && where(service?.name ?? "");
  };
  const others = names.filter((name) => !isWell(name));
  if (others.length === 0) return true;
  const told = found
    .filter(({ name }) => others.includes(name))
    .map(({ name, status, service }) => `${name} ${status} ${service?.name}`);
  return told.slice(0, 5).join(", ") || `${others.length} are unknown`;
}
