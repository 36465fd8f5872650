import { join } from "node:path";
import { PlainError } from "../progress.mjs";
import { layOutVolumes } from "./pod-files.mjs";

/**
 * A pod of a rendered manifest on Podman, by its own words: user, groups, capabilities, read-only root, memory, files, probes, time
 * to end. Not by `podman kube play`, which passes over `subPath`, `projected`, `fsGroup` and the time to end (4.3).
 */

export const NETWORK = "trial";

/**
 * @typedef {object} PodWish
 * @property {string} name
 * @property {string[]} aliases the names of the Services that choose it
 * @property {any} spec of the pod, of one container
 * @property {string[]} [claims]
 * @typedef {Awaited<ReturnType<typeof startPod>>} Pod
 */

/**
 * @param {import("./engine.mjs").Engine} engine
 * @param {import("./pod-files.mjs").Kept} kept
 * @param {PodWish} wish
 */
export async function startPod({ folder, podman }, kept, { name, aliases, spec, claims }) {
  const [container, ...more] = spec.containers;
  if (more.length > 0) throw new PlainError(`${name} has more than one container.`);
  const files = join(folder, "run/pods", name);
  layOutVolumes(spec, files, kept, claims);
  const share = `ipc,net,uts${spec.shareProcessNamespace ? ",pid" : ""}`;
  const network = [NETWORK, ...aliases.map((alias) => `alias=${alias}`)].join(",").replace(",", ":");
  await podman("pod", "create", "--name", name, "--hostname", name, "--network", network, "--share", share);
  const limits = confinement(spec, container);
  const variables = environmentOf(container, kept, name).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
  const mounts = (container.volumeMounts ?? []).flatMap((/** @type {any} */ mount) => [
    "--volume",
    `${join(files, mount.name, mount.subPath ?? "")}:${mount.mountPath}${mount.readOnly ? ":ro" : ""}`,
  ]);
  const [entry, ...rest] = container.command ?? [];
  const entrypoint = entry === undefined ? [] : ["--entrypoint", JSON.stringify([entry, ...rest])];
  const options = ["--detach", "--pod", name, "--name", `${name}-main`, "--pull", "never"];
  await podman(
    "run",
    ...options,
    ...limits,
    ...variables,
    ...mounts,
    ...entrypoint,
    container.image,
    ...(container.args ?? []),
  );
  const infra = (await podman("pod", "inspect", "--format", "{{.InfraContainerID}}", name)).trim();
  const address = await podman("inspect", "--format", `{{(index .NetworkSettings.Networks "${NETWORK}").IPAddress}}`, infra);
  const pid = await podman("inspect", "--format", "{{.State.Pid}}", `${name}-main`);

  return {
    name,
    spec,
    container,
    address: address.trim(),
    pid: Number(pid),
    exec: (/** @type {string[]} */ ...command) => podman("exec", `${name}-main`, ...command),
    logs: () => podman("logs", "--tail", "40", `${name}-main`),
    /** As the cluster ends it: what comes before, SIGTERM, and SIGKILL when its time is over. */
    async end() {
      const startedAt = performance.now();
      const grace = spec.terminationGracePeriodSeconds ?? 30;
      const before = container.lifecycle?.preStop?.exec?.command;
      if (before !== undefined) await podman("exec", `${name}-main`, ...before);
      const left = grace - Math.ceil((performance.now() - startedAt) / 1_000);
      await podman("stop", "--time", String(Math.max(left, 1)), `${name}-main`);
      const exitCode = Number(await podman("inspect", "--format", "{{.State.ExitCode}}", `${name}-main`));
      return { exitCode, grace, seconds: (performance.now() - startedAt) / 1_000 };
    },
  };
}

/** @param {any} spec @param {any} container */
function confinement(spec, container) {
  const { runAsUser, runAsGroup, fsGroup, runAsNonRoot } = spec.securityContext ?? {};
  if (!runAsNonRoot || !runAsUser) throw new PlainError(`${container.name} may run as root.`);
  const own = container.securityContext ?? {};
  const dropped = (own.capabilities?.drop ?? []).flatMap((/** @type {string} */ each) => ["--cap-drop", each]);
  return [
    ...["--user", `${runAsUser}:${runAsGroup}`],
    ...(fsGroup === undefined ? [] : ["--group-add", String(fsGroup)]),
    ...(own.readOnlyRootFilesystem ? ["--read-only", "--read-only-tmpfs=false"] : []),
    ...(own.allowPrivilegeEscalation === false ? ["--security-opt", "no-new-privileges"] : []),
    ...dropped,
    ...["--memory", container.resources.limits.memory.replace("i", "").toLowerCase()],
  ];
}

/**
 * @param {any} container
 * @param {import("./pod-files.mjs").Kept} kept
 * @param {string} podName
 * @returns {[string, string][]}
 */
function environmentOf(container, { secrets, configMaps }, podName) {
  const shared = (container.envFrom ?? []).flatMap((/** @type {any} */ each) =>
    Object.entries(configMaps[each.configMapRef.name] ?? {}),
  );
  const own = (container.env ?? []).map((/** @type {any} */ { name, value, valueFrom }) => {
    if (valueFrom?.fieldRef?.fieldPath === "metadata.name") return [name, podName];
    const { secretKeyRef: from } = valueFrom ?? {};
    return [name, from === undefined ? value : (secrets[from.name]?.[from.key] ?? "")];
  });
  return [...shared, ...own];
}
