import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const packages = [
  ...["libs", "services"].flatMap((dir) => readdirSync(dir).map((name) => join(dir, name))),
  "cli",
  "create",
];

/** What is written for readers, from the root: docs/, and each README: of the repository, its packages, and what `npm create unacked` makes. */
export const pages: readonly string[] = [
  ...["", ...packages, "create/template"].map((dir) => join(dir, "README.md")).filter((file) => existsSync(file)),
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];
