import { fileURLToPath } from "node:url";
import { provideCompose } from "./engine/compose-program.mjs";
import { buildStack, tryStack } from "./engine/compose-trial.mjs";
import { provideImages } from "./engine/stand-ins.mjs";
import { runTrial } from "./engine/trial.mjs";

/**
 * `npm run try-compose`: docker-compose.yml, really run: up, healthy, page and REST, observers, a third service, kill -9 of a
 * container, stop and start, monitoring. `-- --short`: until the kill.
 */
const BASES = ["node:24-bookworm-slim", "rabbitmq:4", "postgres:17"].map((name) => `docker.io/library/${name}`);
const PROMETHEUS = "docker.io/prom/prometheus:v3.5.0";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const isShort = process.argv.includes("--short");

process.exitCode = await runTrial({
  root,
  script: fileURLToPath(import.meta.url),
  provide: provideCompose,
  makeImages: async (engine) => {
    await provideImages(engine, isShort ? BASES : [...BASES, PROMETHEUS]);
    await buildStack(engine, root);
  },
  run: (engine) => tryStack(engine, { root, isShort }),
});
