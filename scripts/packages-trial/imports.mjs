import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CLIENT = `import { Client, contractDecoder, Wire } from "@unacked/client";

const client = new Client({ wire: new Wire({ url: "http://127.0.0.1:1" }), decoder: contractDecoder });
export async function statusOf(name: string): Promise<"Processing" | "other"> {
  const observer = await client.call("createObserver", { body: { name, type: "feed" } });
  return observer.status === "Processing" ? "Processing" : "other";
}
// @ts-expect-error a name is a text
export const wrong = client.call("createObserver", { body: { name: 7, type: "feed" } });
`;
const NAMES = { "@unacked/sdk": "defineObserver", "@unacked/sdk/host": "settleRun", "@unacked/client": "Client" };

/**
 * The libraries, as they are used: imported, required, compiled against with every declaration checked, and bundled for a
 * browser.
 *
 * @param {import("./stranger.mjs").Stranger} stranger
 * @param {string} project
 * @param {string} version
 */
export async function tryImports({ run }, project, version) {
  await run(project, "npm", ["install", "--save-exact", `@unacked/client@${version}`]);
  const folder = join(project, "try");
  mkdirSync(folder);
  const look = Object.entries(NAMES).map(([from, name]) => ({ from, name }));
  const check = (/** @type {string} */ name, /** @type {string} */ of) =>
    `if (typeof ${of}.${name} !== "function") throw new Error("${name} is missing");\n`;
  const imports = look.map(({ from, name }, n) => `import * as of${n} from "${from}";\n${check(name, `of${n}`)}`);
  const requires = look.map(({ from, name }, n) => `const of${n} = require("${from}");\n${check(name, `of${n}`)}`);
  writeFileSync(join(folder, "module.mjs"), imports.join(""));
  writeFileSync(join(folder, "common.cjs"), requires.join(""));
  writeFileSync(join(folder, "client.ts"), CLIENT);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: "../tsconfig.json", include: ["."] }));
  await run(project, "node", ["try/module.mjs"]);
  await run(project, "node", ["try/common.cjs"]);
  await run(project, "npx", ["tsc", "--noEmit", "-p", "try"]);
  await run(project, "npx", ["esbuild", "try/client.ts", "--bundle", "--platform=browser", "--outfile=try/page.js"]);
}
