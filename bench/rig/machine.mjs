import { execFileSync } from "node:child_process";
import { cpus, release, totalmem, type } from "node:os";
import { findOnPath } from "../../scripts/servers/rabbitmq-program.mjs";

/**
 * What the figures were measured on: without it they say nothing.
 *
 * @param {import("./rig.mjs").Rig} rig
 * @returns {Promise<import("../core/figures.mjs").Machine>}
 */
export async function describeMachine(rig) {
  const books = await rig.openServer();
  const [{ server_version: postgres = "?" } = {}] = await books.query("SHOW server_version");
  await books.close();
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? "?",
    "memory (GiB)": Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    "Node.js": process.versions.node,
    RabbitMQ: await rig.management.version(),
    PostgreSQL: postgres,
    ...redis(),
  };
}

/** @returns {import("../core/figures.mjs").Machine} */
function redis() {
  const program = findOnPath("redis-server");
  if (program === null) return {};
  const [, version = "?"] = /v=(\S+)/.exec(execFileSync(program, ["--version"], { encoding: "utf8" })) ?? [];
  return { Redis: version };
}
