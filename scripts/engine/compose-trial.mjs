import { PlainError, say, step } from "../progress.mjs";
import { withCompose } from "./compose-program.mjs";
import { withHealthChecks } from "./health-checks.mjs";
import { allRun, comesTrue, managerApi } from "./manager-api.mjs";
import { tryMonitoring } from "./monitoring-trial.mjs";

/** What docs/deploy.md says of Docker Compose, done as a person would, in a network of its own. */

const NAMES = Array.from({ length: 12 }, (_, index) => `trial-${index}`);
const PROJECT = { COMPOSE_PROJECT_NAME: "unacked-trial" }; // not that of somebody who uses it
const URL_OF_MANAGER = "http://127.0.0.1:8080";

/**
 * @typedef {(...args: string[]) => Promise<string>} Compose
 * @typedef {{ compose: Compose, engine: import("./engine.mjs").Engine, manager: ReturnType<typeof managerApi> }} Trial
 */

/** @param {import("./engine.mjs").Engine} engine @param {string} root */
export const buildStack = (engine, root) =>
  withCompose(engine, { root, settings: PROJECT }, (compose) =>
    step("docker compose build: both images from the Dockerfile", () => compose("build")),
  );

/**
 * @param {import("./engine.mjs").Engine} engine
 * @param {{ root: string, isShort: boolean }} options
 */
export const tryStack = (engine, { root, isShort }) =>
  withCompose(engine, { root, settings: PROJECT }, (compose) =>
    withHealthChecks(engine, async () => {
      const trial = { compose, engine, manager: managerApi(URL_OF_MANAGER) };
      try {
        await step("docker compose up --wait", () => compose("up", "--wait"));
        await tryStart(trial);
        await tryScale(trial);
        await tryKill(trial);
        if (!isShort) {
          await tryStopAndStart(trial);
          await tryMonitoring(compose);
        }
        await step("docker compose down --volumes", () => compose("down", "--volumes"));
      } catch (error) {
        say(await compose("logs", "--tail", "40").catch(String));
        throw error;
      }
    }),
  );

/** @param {Trial} trial */
async function tryStart({ compose, manager }) {
  const lines = (await compose("ps", "--format", "{{.Service}} {{.Health}}")).trim().split("\n").sort();
  const unwell = lines.filter((line) => !line.endsWith(" healthy"));
  if (unwell.length > 0 || lines.length !== 5) throw new PlainError(`Not five healthy containers: ${lines.join(", ")}`);
  say(`✓ ${lines.length} containers, all healthy: ${lines.map((line) => line.split(" ")[0]).join(", ")}`);
  const html = await (await manager.get("/")).text();
  if (!html.includes("<title>")) throw new PlainError(`GET / is no page: ${html.slice(0, 200)}`);
  say("✓ the page answers");
  await comesTrue("both services are known to REST", () => knows(manager, 2));
  for (const name of NAMES) await manager.post("/api/v1/observers", { name, type: "ticker" });
  await comesTrue(`${NAMES.length} observers that were created run`, () => allRun(manager, NAMES));
}

/** @param {Trial} trial */
async function tryScale({ compose, manager }) {
  await step("docker compose up --scale observer-service=3 --wait", () =>
    compose("up", "--scale", "observer-service=3", "--wait"),
  );
  await comesTrue("a third service is known", () => knows(manager, 3));
  await comesTrue(`all ${NAMES.length} run on`, () => allRun(manager, NAMES));
}

/** @param {Trial} trial */
async function tryKill({ engine, manager }) {
  const { name: victim, running } = (await manager.services()).toSorted((a, b) => b.running - a.running)[0] ?? {};
  if (victim === undefined || !running) throw new PlainError("No service runs anything.");
  const [runId] = (await manager.services()).filter(({ name }) => name === victim).map(({ id }) => id);
  const pid = Number(await engine.podman("inspect", "--format", "{{.State.Pid}}", victim));
  process.kill(pid, "SIGKILL"); // its process 1, and with it the container
  say(`kill -9 of container ${victim}, which runs ${running} observers`);
  const others = new Set((await manager.services()).filter(({ id }) => id !== runId).map(({ name }) => name));
  await comesTrue("its observers run again", async () => {
    const isKnown = (await manager.services()).some(({ id }) => id === runId);
    return isKnown ? "it is not known yet that it died" : allRun(manager, NAMES);
  });
  const hosts = (await manager.observers()).filter(({ service }) => others.has(service?.name ?? "")).length;
  say(`  ${hosts} of ${NAMES.length} are on the services that lived`);
  await comesTrue("the engine has started it again, under its name", () => knows(manager, 3, victim));
}

/** @param {Trial} trial */
async function tryStopAndStart({ compose, manager }) {
  await step("docker compose stop", () => compose("stop"));
  await step("docker compose start", () => compose("start"));
  await comesTrue(`all ${NAMES.length} are there still, and run`, () => allRun(manager, NAMES));
  await step("docker compose down, which keeps the volumes", () => compose("down"));
  await step("docker compose up --wait", () => compose("up", "--wait"));
  await comesTrue(`all ${NAMES.length} are there still, and run`, () => allRun(manager, NAMES));
}

/**
 * @param {Trial["manager"]} manager
 * @param {number} count
 * @param {string} [name] of one of them
 * @returns {Promise<true | string>}
 */
async function knows(manager, count, name) {
  const alive = (await manager.services()).filter(({ state }) => state === "Alive").map((each) => each.name);
  const isThere = name === undefined || alive.includes(name);
  return (alive.length === count && isThere) || `alive are ${alive.join(", ") || "none"}`;
}
