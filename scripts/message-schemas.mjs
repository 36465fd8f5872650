/**
 * Writes what this version sends and takes, as JSON Schema, beside its golden messages: `node scripts/message-schemas.mjs`,
 * after a build. Once the version is released (test/fixtures/releases.json) it is history, and nothing is written any more.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { MESSAGES } from "../libs/contracts/dist/index.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const file = join(root, `test/fixtures/messages/v${version}/schemas.json`);

const releases = JSON.parse(readFileSync(join(root, "test/fixtures/releases.json"), "utf8"));
if (version in releases) {
  console.error(`v${version} is released: its messages stay as they were. Raise the version in package.json first.`);
  process.exit(1);
}
const schemas = Object.entries(MESSAGES).map(([name, schema]) => [name, z.toJSONSchema(schema, { io: "input" })]);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(Object.fromEntries(schemas), null, 2)}\n`);
console.log(`wrote ${file}`);
