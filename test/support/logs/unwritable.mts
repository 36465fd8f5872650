import { createLog as managersLog } from "../../../services/observer-manager/src/log.ts";
import { createLog as servicesLog } from "../../../services/observer-service/src/log.ts";

/** Each program's log is given far more than is kept of what cannot be written; then this says on standard error that it lives. */
for (const createLog of [servicesLog, managersLog]) {
  const log = createLog("info", {});
  for (let line = 0; line < 20_000; line += 1) log.error({ line, text: "x".repeat(1_000) }, "a line that has no room");
  log.fatal("the last line");
}
process.stderr.write("still here");
process.exit(0);
