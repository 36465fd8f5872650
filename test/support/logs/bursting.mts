import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createLog as managersLog } from "../../../services/observer-manager/src/log.ts";
import { createLog as servicesLog } from "../../../services/observer-service/src/log.ts";

/**
 * Logs so many KiB in one turn, says on descriptor 3 that turns follow it, and logs a last line: when its standard input has ended, or
 * right after the burst, which ends it. Before that a child is given its standard error, which makes it one that waits.
 */
const [of, kib, until] = process.argv.slice(2);
const log = (of === "manager" ? managersLog : servicesLog)("info", {});
spawnSync("true", [], { stdio: ["ignore", "ignore", "inherit"] });
for (let line = 0; line < Number(kib); line += 1) log.info({ line, text: "x".repeat(1_000) }, "one of many");

const end = () => {
  log.fatal("the last line");
  process.exit(3);
};
if (until === "ended") process.stdin.on("end", end).resume();
else end();
setImmediate(() => fs.writeSync(3, "its turns go on"));
