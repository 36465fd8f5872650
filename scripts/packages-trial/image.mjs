import { buildImage, provideBuildah, withFilesOf } from "../images/buildah.mjs";
import { imageProgram } from "../images/image-program.mjs";
import { makeStandIn } from "../images/stand-in.mjs";
import { PlainError, step } from "../progress.mjs";
import { serveFeed } from "./feed.mjs";
import { until } from "./waiting.mjs";

const STAND_IN = "localhost/unacked/node-stand-in";
const TAG = "localhost/unacked/project-of-a-stranger";

/**
 * The project's one image, built by Buildah from the project's own Dockerfile, and both programs run from it as an engine would:
 * the service by the image's command, the manager by the command that compose and Kubernetes give. As root, on Linux.
 *
 * @param {import("./stranger.mjs").Stranger} stranger
 * @param {{ project: string, dir: string, addresses: import("./servers.mjs").Servers["addresses"], isStandIn: boolean }} what
 */
export async function tryImage(stranger, { project, dir, addresses, isStandIn }) {
  const reason = await provideBuildah();
  if (reason !== null) throw new PlainError(`No image can be made here: ${reason}`);
  if (isStandIn) await step("A stand-in for the base image", () => makeStandIn(STAND_IN));
  await step("Building the project's image", () =>
    buildImage({ tag: TAG, nodeImage: isStandIn ? STAND_IN : "", context: project }),
  );
  const { AMQP_URL, DATABASE_URL } = addresses;
  const common = { dir, tag: TAG };
  const forManager = { AMQP_URL, DATABASE_URL, HOST: "127.0.0.1" };
  const forService = { AMQP_URL, HOST: "127.0.0.1", SERVICE_NAME: "from-image" };
  await withFilesOf(TAG, async (files) => {
    const command = ["node_modules/.bin/unacked-manager"];
    const manager = await imageProgram({ ...common, name: "manager-of-image", files, settings: forManager, command });
    await withFilesOf(TAG, async (others) => {
      const service = await imageProgram({ ...common, name: "service-of-image", files: others, settings: forService });
      await tryPrograms(stranger, project, { manager, service });
    });
  });
}

/**
 * @param {import("./stranger.mjs").Stranger} stranger
 * @param {string} project
 * @param {Record<"manager" | "service", import("../images/image-program.mjs").ImageProgram>} programs
 */
async function tryPrograms(stranger, project, { manager, service }) {
  const both = [service, manager];
  const feed = await serveFeed();
  try {
    await step("Manager and service, from the image", () => Promise.all(both.map((each) => each.program.start())));
    const { url } = manager.program;
    const unacked = (/** @type {string[]} */ ...args) => stranger.run(project, "npx", ["unacked", ...args, "--url", url]);
    await until("the types are known", async () => (await unacked("get", "types")).includes("feed"));
    await unacked("create", "feed", "from-image", "--param", `url=${feed.url}`, "--param", "everyMs=200", "--wait");
    await until("its observer looks at its feed", () => feed.looks() > 1);
    for (const each of both) await each.tryConfinement();
    for (const each of both) await each.tryEnd();
  } finally {
    await Promise.all(both.map((each) => each.program.stop()));
    feed.close();
  }
}
