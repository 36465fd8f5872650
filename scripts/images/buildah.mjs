import { step } from "../progress.mjs";
import { findOnPath } from "../servers/rabbitmq-program.mjs";
import { canInstall, installPackage } from "../setup/apt-get.mjs";
import { runTool } from "../setup/run-tool.mjs";

/** Buildah makes images without an engine and, by `--isolation chroot`, where a container may make no container. */

/** @returns {Promise<string | null>} why no image can be made here; null if one can */
export async function provideBuildah() {
  if (process.platform !== "linux") return "it needs Linux";
  if (process.getuid?.() !== 0) return "it needs root, for chroot and mount";
  if (findOnPath("buildah") !== null) return null;
  if (!canInstall()) return "buildah is not installed";
  await step("Installing Buildah by apt-get", () => installPackage("buildah", "Install buildah yourself."));
  return null;
}

const OURS = ["--isolation", "chroot", "--format", "docker"]; // OCI's format has no place for a health check

/**
 * @param {{ target?: string, tag: string, nodeImage: string, context: string }} image `nodeImage` "": the Dockerfile's own
 * @returns {Promise<void>}
 */
export async function buildImage({ target, tag, nodeImage, context }) {
  const base = nodeImage === "" ? [] : ["--build-arg", `NODE_IMAGE=${nodeImage}`];
  const stage = target === undefined ? [] : ["--target", target];
  await runTool("buildah", ["build", ...OURS, ...base, ...stage, "--tag", tag, context], {
    advice: "Where no registry can be reached, --stand-in makes a base image of this machine's Debian mirror and Node.js.",
  });
}

/**
 * What an image says of how it is run, in Docker's words.
 *
 * @typedef {{ Env: string[], Cmd: string[], User: string, WorkingDir: string, Healthcheck?: { Test: string[] } }} ImageConfig
 */

/**
 * @param {string} tag
 * @returns {Promise<ImageConfig>}
 */
export async function configOf(tag) {
  return JSON.parse(await runTool("buildah", ["inspect", "--type", "image", tag])).Docker.config;
}

/**
 * Gives the image's files as a folder for as long as `work` lasts.
 *
 * @template T
 * @param {string} tag
 * @param {(folder: string) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withFilesOf(tag, work) {
  const container = (await runTool("buildah", ["from", "--pull-never", tag])).trim();
  try {
    return await work((await runTool("buildah", ["mount", container])).trim());
  } finally {
    await runTool("buildah", ["rm", container]);
  }
}

/**
 * An image whose files are those of a folder.
 *
 * @param {string} tag
 * @param {string} folder
 * @param {Record<string, string>} env
 */
export async function imageOfFolder(tag, folder, env) {
  const container = (await runTool("buildah", ["from", "scratch"])).trim();
  try {
    await runTool("buildah", ["copy", "--quiet", container, folder, "/"]);
    const variables = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    await runTool("buildah", ["config", ...variables, "--cmd", "node", container]);
    await runTool("buildah", ["commit", "--quiet", "--format", "docker", container, tag]);
  } finally {
    await runTool("buildah", ["rm", container]);
  }
}
