import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { holdOnLeash } from "../../../scripts/processes/leash.mjs";
import { freePort } from "../../../scripts/servers/free-port.mjs";
import { findPgbouncer, WHY_NO_PGBOUNCER } from "../../../scripts/setup/pgbouncer-program.mjs";
import { eventually } from "../eventually.ts";
import { temporaryFolder } from "./servers.ts";

/**
 * Debian's PgBouncer before that database, until the test ends.
 * @param lines of its configuration, beside where it listens
 * @returns the address of the database through it
 */
export async function startPgbouncer(databaseUrl: string, lines: string[]): Promise<string> {
  const program = findPgbouncer();
  if (program === null) throw new Error(WHY_NO_PGBOUNCER);
  const { hostname, port: serverPort, pathname, username, password } = new URL(databaseUrl);
  const port = await freePort();
  const database = pathname.slice(1);
  const file = join(temporaryFolder("pgbouncer"), "pgbouncer.ini");
  const server = `host=${hostname} port=${serverPort} dbname=${database} user=${username}`;
  const configuration = [
    ...["[databases]", `${database} = ${server}${password && ` password=${password}`}`],
    ...["[pgbouncer]", "listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "auth_type = any"],
    ...(process.getuid?.() === 0 ? ["user = nobody"] : []),
    ...lines,
  ];
  writeFileSync(file, `${configuration.join("\n")}\n`);
  const pgbouncer = spawn(program, ["--quiet", file], { detached: true, stdio: ["ignore", "ignore", "inherit"] });
  holdOnLeash(pgbouncer);
  onTestFinished(() => void pgbouncer.kill("SIGKILL"));
  await eventually(() => isListening(port), { what: "PgBouncer" });
  const url = new URL(databaseUrl);
  url.port = String(port);
  return url.href;
}

const isListening = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve();
    }).on("error", reject);
  });
