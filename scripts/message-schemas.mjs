/**
 * Writes what this version sends and takes, as JSON Schema, beside its golden messages: `node scripts/message-schemas.mjs`,
 * after a build. Once the version is released (a tag v<version>) it is history, and nothing is written any more.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { ControlMessage, ErrorReport, LogReply, StartObserver, StateMessage } from "../libs/contracts/dist/index.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const file = join(root, `test/fixtures/messages/v${version}/schemas.json`);

if (execFileSync("git", ["tag", "--list", `v${version}`], { cwd: root, encoding: "utf8" }).trim() !== "") {
  console.error(`v${version} is released: its messages stay as they were. Raise the version in package.json first.`);
  process.exit(1);
}
const decoders = { StartObserver, ControlMessage, StateMessage, ErrorReport, LogReply };
const schemas = Object.entries(decoders).map(([name, schema]) => [name, z.toJSONSchema(schema, { io: "input" })]);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(Object.fromEntries(schemas), null, 2)}\n`);
console.log(`wrote ${file}`);
