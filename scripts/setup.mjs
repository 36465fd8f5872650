import { fileURLToPath } from "node:url";
import { complain, PlainError } from "./progress.mjs";
import { setUp } from "./setup/set-up.mjs";

/** What `npm test` and others do first, `--with-browser` where they need one; `npm start` does it itself, after its options. */
const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

try {
  await setUp(root, { withBrowser: process.argv.includes("--with-browser") });
} catch (error) {
  complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
