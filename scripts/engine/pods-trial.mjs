import { readFileSync } from "node:fs";
import { PlainError, say, step } from "../progress.mjs";
import { allRun, comesTrue, managerApi } from "./manager-api.mjs";
import { readOverlay } from "./manifests.mjs";
import { byHand, TOKEN } from "./operators.mjs";
import { sweep } from "./own-namespaces.mjs";
import { NETWORK, startPod } from "./pod.mjs";
import { waitForProbes } from "./probes.mjs";

/** The pods of an overlay, started, probed, looked at, used and ended, as a cluster would. */

const NAMES = Array.from({ length: 12 }, (_, index) => `trial-${index}`);

/** @typedef {import("./pod.mjs").Pod} Pod */

/**
 * @param {import("./engine.mjs").Engine} engine
 * @param {string} root
 * @param {"dev" | "production"} name
 */
export async function tryOverlay(engine, root, name) {
  say(`The overlay ${name}:`);
  const overlay = readOverlay(root, name);
  const none = { secrets: {}, configMaps: {}, pods: [] };
  const made = name === "production" ? await byHand(root, overlay) : none;
  const kept = {
    secrets: { ...overlay.kept.secrets, ...made.secrets },
    configMaps: { ...overlay.kept.configMaps, ...made.configMaps },
  };
  await engine.podman("network", "create", NETWORK);
  /** @type {Pod[]} */
  const pods = [];
  const start = async (/** @type {import("./pod.mjs").PodWish[]} */ wishes) => {
    const started = [];
    for (const wish of wishes) started.push(await startPod(engine, kept, wish));
    pods.push(...started);
    for (const pod of started) await waitForProbes(pod);
    return started;
  };
  try {
    await start(name === "production" ? made.pods : ["rabbitmq", "postgres"].flatMap(overlay.podsOf));
    const managers = await start(overlay.podsOf("observer-manager"));
    const services = await start(overlay.podsOf("observer-service"));
    for (const pod of pods) await tryConfinement(pod);
    const manager = managerApi(`http://${managers[0]?.address}:8080`, {
      authorization: `Bearer ${name === "dev" ? "unacked-dev" : TOKEN}`,
    });
    await tryWork(manager, services);
    await tryEnds([...services.slice(1).toReversed(), ...services.slice(0, 1), ...managers], manager);
  } catch (error) {
    for (const pod of pods) say(`${pod.name} said last:\n${await pod.logs().catch(String)}`);
    throw error;
  }
  await step("All pods away", () => sweep(engine));
  await engine.podman("network", "rm", NETWORK);
}

/** Looked at from outside: process 1 of a pod whose containers share their processes is the engine's. @param {Pod} pod */
async function tryConfinement({ name, pid, container, exec }) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (/** @type {string} */ key) => new RegExp(`^${key}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
  const users = new Set(field("Uid").split(/\s+/));
  if (users.has("0")) throw new PlainError(`${name} runs as root.`);
  if (BigInt(`0x${field("CapEff")}`) !== 0n) throw new PlainError(`${name} has the capabilities ${field("CapEff")}.`);
  if (field("NoNewPrivs") !== "1") throw new PlainError(`${name} may gain privileges.`);
  const isReadOnly = / \/ \/ ro,| \S+ \/ ro,/.test(readFileSync(`/proc/${pid}/mountinfo`, "utf8"));
  if (container.securityContext.readOnlyRootFilesystem && !isReadOnly)
    throw new PlainError(`The root of ${name} is not read-only.`);
  const isWritable = await exec("sh", "-c", "touch /trial || touch /usr/trial").then(
    () => true,
    () => false,
  );
  if (isWritable) throw new PlainError(`${name} can write to its root.`);
  say(`✓ ${name}: user ${[...users].join()}, no capabilities, root ${isReadOnly ? "read-only" : "as its image has it"}`);
}

/** @param {ReturnType<typeof managerApi>} manager @param {Pod[]} services */
async function tryWork(manager, services) {
  await comesTrue(`${services.length} services are known by their pods' names`, async () => {
    const names = (await manager.services())
      .map(({ name }) => name)
      .sort()
      .join();
    return (
      names ===
        services
          .map(({ name }) => name)
          .sort()
          .join() || `known are ${names || "none"}`
    );
  });
  const [first] = await manager.services();
  say(`  each runs ${first?.workerCount} at once, by its memory limit`);
  for (const name of NAMES) await manager.post("/api/v1/observers", { name, type: "ticker" });
  await comesTrue(`${NAMES.length} observers run`, () => allRun(manager, NAMES));
}

/** One after the other, services first. @param {Pod[]} pods @param {ReturnType<typeof managerApi>} manager */
async function tryEnds(pods, manager) {
  for (const [index, pod] of pods.entries()) {
    const { exitCode, grace, seconds } = await pod.end();
    const told = `${pod.name} ended with exit code ${exitCode} after ${seconds.toFixed(1)} s of ${grace} s`;
    if (exitCode !== 0) throw new PlainError(told);
    say(`✓ ${told}`);
    const isAnotherThere = pods[index + 1]?.name.startsWith("observer-service") && pod.name.startsWith("observer-service");
    if (isAnotherThere)
      await comesTrue("its observers run on the other", () => allRun(manager, NAMES, (name) => name !== pod.name));
  }
}
