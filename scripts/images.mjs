import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildImage, provideBuildah } from "./images/buildah.mjs";
import { makeStandIn } from "./images/stand-in.mjs";
import { tryImages } from "./images/try-images.mjs";
import { complain, PlainError, say, step } from "./progress.mjs";

const HELP = `Usage: npm run images [-- --node-image IMAGE | --stand-in]

Builds both images of the Dockerfile with Buildah (no engine needed; root is), then runs them as an engine would: as their
own user, on a read-only disk, with a RabbitMQ and a PostgreSQL of their own.

  --node-image IMAGE   another base than the Dockerfile's
  --stand-in           a base made of this machine's Debian mirror and Node.js, where no registry can be reached
`;

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const STAND_IN = "localhost/unacked/node-stand-in";
const tags = { manager: "localhost/unacked/observer-manager", service: "localhost/unacked/observer-service" };

async function main() {
  const { values } = parseArgs({
    options: { "node-image": { type: "string" }, "stand-in": { type: "boolean" }, help: { type: "boolean" } },
  });
  if (values.help) return void process.stdout.write(HELP);
  const reason = await provideBuildah();
  if (reason !== null) throw new PlainError(`No image can be made here: ${reason}`);
  if (values["stand-in"]) await step("A stand-in for the base image", () => makeStandIn(STAND_IN));
  const nodeImage = values["stand-in"] ? STAND_IN : (values["node-image"] ?? "");
  const build = (/** @type {string} */ target, /** @type {string} */ tag) =>
    step(`Building ${target}`, () => buildImage({ target, tag, nodeImage, context: root }));
  await build("observer-manager", tags.manager);
  await build("observer-service", tags.service);
  await tryImages(tags);
  say(`Both images work: ${tags.manager}, ${tags.service}`);
}

try {
  await main();
} catch (error) {
  const isPlain = error instanceof PlainError || /** @type {{ code?: string }} */ (error).code?.startsWith("ERR_PARSE_ARGS");
  complain(isPlain ? /** @type {Error} */ (error).message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
