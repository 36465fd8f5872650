import { fileURLToPath } from "node:url";
import { provideCompose } from "./engine/compose-program.mjs";
import { buildStack } from "./engine/compose-trial.mjs";
import { tryOverlay } from "./engine/pods-trial.mjs";
import { provideImages } from "./engine/stand-ins.mjs";
import { runTrial } from "./engine/trial.mjs";
import { provideKubectl } from "./setup/kubectl-program.mjs";

/**
 * `npm run try-pods`: the pods of k8s/overlays/dev and production, really run: probes, users, read-only root, drain. What operators would make in a
 * cluster is made by hand (operators.mjs).
 */
const BASES = ["node:24-bookworm-slim", "rabbitmq:4", "rabbitmq:4.3-management", "postgres:17"];

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

process.exitCode = await runTrial({
  root,
  script: fileURLToPath(import.meta.url),
  provide: async (engine) => {
    await provideKubectl();
    await provideCompose(engine);
  },
  makeImages: async (engine) => {
    await provideImages(
      engine,
      BASES.map((name) => `docker.io/library/${name}`),
    );
    await buildStack(engine, root);
  },
  run: async (engine) => {
    await tryOverlay(engine, root, "dev");
    await tryOverlay(engine, root, "production");
  },
});
