import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { endLeftover, readPidFile } from "../processes/pid-file.mjs";
import { say } from "../progress.mjs";

const GRACE_MS = 5_000;

/**
 * Ends what an earlier start in this clone left running, should it have been killed together with its watchdog. The pid
 * files say which processes those are; one whose pid now belongs to another program is not touched.
 *
 * @param {string} dataDir
 */
export async function endLeftovers(dataDir) {
  // Our own programs first, while the servers that they talk to still answer.
  for (const folder of ["run", "rabbitmq", "postgres"]) {
    for (const path of pidFilesIn(join(dataDir, folder))) {
      const leftover = readPidFile(path);
      if (leftover !== null) say(`Ending process ${leftover.pid}, which an earlier start left behind (${path}).`);
      await endLeftover(path, { graceMs: GRACE_MS });
    }
  }
}

/** @param {string} folder */
function pidFilesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".pid.json"))
    .map((name) => join(folder, name));
}
