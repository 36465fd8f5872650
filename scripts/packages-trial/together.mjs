import { join } from "node:path";
import { sendSignal } from "../processes/pid-file.mjs";
import { PlainError, say } from "../progress.mjs";
import { programOf } from "../start/program.mjs";
import { serveFeed } from "./feed.mjs";
import { until } from "./waiting.mjs";

/** So often the feed is looked at. */
const EVERY_MS = 200;

/**
 * The programs out of the packages, on a broker and a database: the project's observer runs, the service that runs it is
 * killed, and it goes on with the other one from what it saved.
 *
 * @param {import("./stranger.mjs").Stranger} stranger
 * @param {string} project
 * @param {string} dir
 * @param {import("./servers.mjs").Servers["addresses"]} addresses
 */
export async function tryTogether(stranger, project, dir, { AMQP_URL, DATABASE_URL }) {
  const feed = await serveFeed();
  const common = { ...stranger.env, AMQP_URL, PORT: "0" };
  const program = (/** @type {string} */ name, /** @type {string} */ bin, /** @type {Record<string, string>} */ settings) =>
    programOf({
      name,
      command: [join(project, "node_modules/.bin", bin)],
      env: { ...common, ...settings },
      cwd: project,
      logFile: join(dir, `${name}.log`),
      pidFile: join(dir, `${name}.pid.json`),
      readyPath: "/readyz",
    });
  const manager = program("manager", "unacked-manager", { DATABASE_URL });
  const services = ["service-1", "service-2"].map((name) => program(name, "unacked-service", { SERVICE_NAME: name }));
  try {
    await Promise.all([manager, ...services].map((each) => each.start()));
    await tryObserver({ stranger, project, url: manager.url, services, feed });
  } finally {
    await Promise.all([...services, manager].map((each) => each.stop()));
    feed.close();
  }
}

/**
 * @param {object} parts
 * @param {import("./stranger.mjs").Stranger} parts.stranger
 * @param {string} parts.project
 * @param {string} parts.url
 * @param {import("../start/program.mjs").Program[]} parts.services
 * @param {Awaited<ReturnType<typeof serveFeed>>} parts.feed
 */
async function tryObserver({ stranger, project, url, services, feed }) {
  const page = await fetch(url);
  if (!page.ok || !(await page.text()).includes("<title>")) throw new PlainError(`The page is not there: ${page.status}`);
  const unacked = (/** @type {string[]} */ ...args) => stranger.run(project, "npx", ["unacked", ...args, "--url", url]);
  await until("the types are known", async () => (await unacked("get", "types")).includes("feed"));
  await unacked("create", "feed", "news", "--param", `url=${feed.url}`, "--param", `everyMs=${EVERY_MS}`, "--wait");
  await unacked("schedule", "preview", "-f", "apply/schedules.yaml");
  await unacked("apply", "-f", "apply/schedules.yaml");
  await unacked("run", "feed-digest", `url=${feed.url}`, "--wait");
  await until("it has saved", async () => (await checkpoint(url)).number > 0 && feed.looks() > 1);

  const before = await observer(url);
  const service = services.find((_, n) => before.service?.name === `service-${n + 1}`);
  if (service === undefined) throw new PlainError(`It runs on nobody known: ${JSON.stringify(before)}`);
  const killedAt = performance.now();
  sendSignal(service.pid, "SIGKILL");
  await until("it runs on the other service", async () => {
    const { status, service: other } = await observer(url);
    return status === "Processing" && other?.name !== before.service?.name;
  });
  say(`  killed with -9, it ran again on the other service after ${Math.round(performance.now() - killedAt)} ms`);
  const looks = feed.looks();
  await until("it looks at its feed again", async () => feed.looks() > looks);
}

/** @param {string} url @returns {Promise<{ status: string, service: { name: string } | null }>} */
const observer = (url) => answerOf(`${url}/api/v1/observers/news`);
/** @param {string} url @returns {Promise<{ number: number }>} */
const checkpoint = (url) => answerOf(`${url}/api/v1/observers/news/checkpoint`);
/** @param {string} url @returns {Promise<any>} */
const answerOf = async (url) => (await fetch(url)).json();
