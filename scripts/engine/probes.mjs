import { setTimeout as sleep } from "node:timers/promises";
import { PlainError, say } from "../progress.mjs";

const PATIENCE_MS = 300_000;

/**
 * Waits until a pod's own probes pass, asked as a kubelet asks them: from outside by HTTP, or by a command within.
 *
 * @param {import("./pod.mjs").Pod} pod
 */
export async function waitForProbes(pod) {
  const startedAt = performance.now();
  for (const kind of /** @type {const} */ (["readinessProbe", "livenessProbe"])) {
    const probe = pod.container[kind];
    if (probe === undefined) throw new PlainError(`${pod.name} has no ${kind}.`);
    for (;;) {
      const failure = await askProbe(pod, probe);
      if (failure === null) break;
      if (performance.now() - startedAt > PATIENCE_MS)
        throw new PlainError(`The ${kind} of ${pod.name} does not pass: ${failure}\n${await pod.logs()}`);
      await sleep(500);
    }
  }
  say(`✓ ${pod.name}: both probes pass (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
}

/**
 * @param {import("./pod.mjs").Pod} pod
 * @param {{ httpGet?: { path: string, port: string }, exec?: { command: string[] } }} probe
 * @returns {Promise<string | null>} why it fails
 */
async function askProbe({ container, address, exec }, { httpGet, exec: within }) {
  try {
    if (within !== undefined) {
      await exec(...within.command);
      return null;
    }
    const port = container.ports.find((/** @type {{ name: string }} */ { name }) => name === httpGet?.port)?.containerPort;
    const answer = await fetch(`http://${address}:${port}${httpGet?.path}`, { signal: AbortSignal.timeout(10_000) });
    return answer.ok ? null : `${answer.status} ${await answer.text()}`;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
}
