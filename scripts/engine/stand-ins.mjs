import { copyFileSync, cpSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PlainError, say, step } from "../progress.mjs";
import { debianRootWith, whyNoOtherRoot } from "../servers/debian-root.mjs";
import { findOnPath } from "../servers/rabbitmq-program.mjs";
import { runTool } from "../setup/run-tool.mjs";

/** The images of others that we build on and run beside: a registry's own, or where none can be reached, ones of Debian's packages. */

const SUITE = "trixie"; // of RabbitMQ 4 and PostgreSQL 17, as in docker-compose.yml
const PACKAGES = ["rabbitmq-server", "postgresql-17", "prometheus", "busybox", "procps"];
const SERVERS = "localhost/unacked/servers";
const FILES = fileURLToPath(new URL("stand-ins", import.meta.url));
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** By what it stands in for: the stage of stand-ins/Dockerfile. */
const STAGES = [
  { of: /\/node:/, stage: "node" },
  { of: /\/rabbitmq:/, stage: "rabbitmq" },
  { of: /\/postgres(ql)?:/, stage: "postgres" },
  { of: /\/prometheus:/, stage: "prometheus" },
];

/**
 * @param {import("./engine.mjs").Engine} engine
 * @param {string[]} images with their registries
 */
export async function provideImages(engine, images) {
  let isOffline = false;
  for (const image of images) {
    if (await hasImage(engine, image)) continue;
    if (!isOffline && (await pull(engine, image))) continue;
    isOffline = true;
    await standIn(engine, image);
  }
}

/** @param {import("./engine.mjs").Engine} engine @param {string} image */
const hasImage = ({ podman }, image) =>
  podman("image", "exists", image).then(
    () => true,
    () => false,
  );

/** @param {import("./engine.mjs").Engine} engine @param {string} image */
async function pull({ podman }, image) {
  try {
    await step(`Pulling ${image}`, () => podman("pull", "--quiet", image));
    return true;
  } catch {
    say(`${image} cannot be pulled here: Debian's packages stand in for it.`);
    return false;
  }
}

/** @param {import("./engine.mjs").Engine} engine @param {string} image */
async function standIn(engine, image) {
  const stage = STAGES.find(({ of }) => of.test(image))?.stage;
  if (stage === undefined) throw new PlainError(`Nothing stands in for ${image}.`);
  if (!(await hasImage(engine, SERVERS))) await makeServers(engine);
  const context = mkdtempSync(join(tmpdir(), "unacked-stand-in-"));
  try {
    cpSync(FILES, context, { recursive: true });
    if (stage === "node") addNode(context);
    await step(`A stand-in for ${image}`, () =>
      engine.podman("build", "--pull-never", "--target", stage, "--tag", image, context),
    );
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** @param {import("./engine.mjs").Engine} engine */
async function makeServers({ folder, podman }) {
  const reason = whyNoOtherRoot();
  if (reason !== null) throw new PlainError(`No images can be made of Debian's packages: ${reason}`);
  const root = await debianRootWith(PACKAGES, SUITE, join(folder, SUITE));
  const archive = join(folder, "servers.tar");
  try {
    const unneeded = ["var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"];
    const excluded = unneeded.map((path) => `--exclude=./${path}/*`);
    await runTool("tar", ["-C", root, ...excluded, "-cf", archive, "."]);
    await step("An image of them", () => podman("import", "--quiet", archive, SERVERS));
  } finally {
    for (const done of [archive, root]) rmSync(done, { recursive: true, force: true });
  }
}

/** @param {string} context */
function addNode(context) {
  copyFileSync(realpathSync(process.execPath), join(context, "node"));
  const npm = dirname(dirname(realpathSync(findOnPath("npm") ?? "")));
  cpSync(npm, join(context, "npm"), { recursive: true, dereference: true });
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(context, "certificates.pem"));
  else writeFileSync(join(context, "certificates.pem"), "");
}
