import { step } from "../progress.mjs";
import { comesTrue } from "./manager-api.mjs";

/** The profile `monitoring`, but for Grafana, of which Debian has no package: its files are read by test/unit alone. */

const PROMETHEUS = "http://127.0.0.1:9090/api/v1";

/** @param {import("./compose-trial.mjs").Compose} compose */
export async function tryMonitoring(compose) {
  await step("docker compose --profile monitoring up --wait prometheus", () =>
    compose("--profile", "monitoring", "up", "--wait", "--no-recreate", "prometheus"),
  );
  for (const [job, count] of /** @type {const} */ ([
    ["observer-manager", 1],
    ["observer-service", 2],
  ]))
    await comesTrue(`Prometheus scrapes ${count} of ${job}`, async () => {
      const { result } = await ask(`query?query=${encodeURIComponent(`up{job="${job}"} == 1`)}`);
      return result.length === count || `up are ${result.length}`;
    });
  await comesTrue("its alert rules are loaded, and none of them fires", async () => {
    const { groups } = await ask("rules?type=alert");
    const rules = groups.flatMap(
      (/** @type {{ rules: { name: string, state: string, health: string }[] }} */ each) => each.rules,
    );
    const bad = rules.filter(
      (/** @type {{ state: string, health: string }} */ { state, health }) => state === "firing" || health !== "ok",
    );
    return (
      (rules.length > 0 && bad.length === 0) || JSON.stringify(bad.map((/** @type {{ name: string }} */ { name }) => name))
    );
  });
}

/** @param {string} path */
async function ask(path) {
  const answer = await fetch(`${PROMETHEUS}/${path}`, { signal: AbortSignal.timeout(10_000) });
  return /** @type {any} */ (await answer.json()).data;
}
