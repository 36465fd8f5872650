import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram, PROGRAMS } from "./bundles/program-bundles.mjs";
import { BEING_MADE, putInPlace } from "./bundles/put-in-place.mjs";

/**
 * Makes one file of each program that is started often: `bundle/` beside `dist/`, of the same sources and of the packages that
 * these need. To find and load hundreds of modules takes more than half of what a start costs. Folders as arguments: only of
 * these. The programs can be started all the while.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const folders = process.argv.slice(2);
const chosen = PROGRAMS.filter(({ of }) => folders.length === 0 || folders.includes(of));
/**
 * What stays a package beside it: pg-native, which pg asks for and does without; OpenTelemetry and undici, loaded only where
 * they are wished for; amqplib, so that a process can be made to die between two frames of it (test/fixtures/die-at.mjs).
 */
const BESIDE = [
  "pg-native",
  "undici",
  "amqplib",
  "@opentelemetry/sdk-*",
  "@opentelemetry/exporter-*",
  "@opentelemetry/resources",
];

for (const of of new Set(chosen.map((program) => program.of))) {
  const bundle = join(root, of, "bundle");
  const outdir = join(bundle, BEING_MADE);
  rmSync(outdir, { recursive: true, force: true });
  for (const program of chosen.filter((each) => each.of === of))
    await bundleProgram(root, program, { outdir, external: BESIDE });
  putInPlace(bundle);
}
