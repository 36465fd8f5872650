import { createLog as managersLog } from "../../../services/observer-manager/src/log.ts";
import { createLog as servicesLog } from "../../../services/observer-service/src/log.ts";

/**
 * Logs a MiB in one turn, says on standard error that turns follow it, and logs a last line: when its standard input has ended, or
 * right after the burst, which ends it.
 */
const [of, until] = process.argv.slice(2);
const log = (of === "manager" ? managersLog : servicesLog)("info", {});
for (let line = 0; line < 1_024; line += 1) log.info({ line, text: "x".repeat(1_000) }, "one of many");

const end = () => {
  log.fatal("the last line");
  process.exit(3);
};
if (until === "ended") process.stdin.on("end", end).resume();
else end();
setImmediate(() => process.stderr.write("its turns go on"));
