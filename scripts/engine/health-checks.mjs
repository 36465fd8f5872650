import { setTimeout as sleep } from "node:timers/promises";

const ROUND_MS = 2_000;

/**
 * Podman leaves it to systemd to ask a container for its health, and in a namespace of its own there is none: so each running
 * container's own check is run by this, for as long as `work` lasts. How often an engine would is not tried by it.
 *
 * @template T
 * @param {import("./engine.mjs").Engine} engine
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withHealthChecks({ podman }, work) {
  let isOver = false;
  const checkAll = async () => {
    while (!isOver) {
      const ids = await podman("ps", "--quiet", "--filter", "status=running").catch(() => "");
      // One that has no check, or has just gone, or is not healthy, is no business of ours.
      await Promise.all(
        ids
          .split(/\s+/)
          .filter(Boolean)
          .map((id) => podman("healthcheck", "run", id).catch(() => "")),
      );
      await sleep(ROUND_MS);
    }
  };
  const rounds = checkAll();
  try {
    return await work();
  } finally {
    isOver = true;
    await rounds;
  }
}
