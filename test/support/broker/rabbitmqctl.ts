import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findRabbitmq } from "../../../scripts/servers/rabbitmq-program.mjs";

const run = promisify(execFile);

/** Of a node that startRabbitmq started in `dir` (installed, not in a container): what the management API cannot do. */
export async function rabbitmqctl(dir: string, ...args: string[]): Promise<string> {
  const { nodeName, epmdPort } = JSON.parse(readFileSync(join(dir, "node.json"), "utf8")) as {
    nodeName: string;
    epmdPort: number;
  };
  const env = {
    ...process.env,
    HOME: join(dir, "home"),
    ERL_EPMD_PORT: String(epmdPort),
    RABBITMQ_CONF_ENV_FILE: "/dev/null",
    LC_ALL: "C.UTF-8",
  };
  const program = findRabbitmq();
  if (program === null) throw new Error("rabbitmqctl: RabbitMQ is not installed here.");
  const [first = "", ...words] = program.command(dir, [program.ctl, "-n", nodeName, ...args]);
  const { stdout } = await run(first, words, { env, timeout: 30_000 });
  return stdout;
}

/** `on` true: a memory alarm, whatever the memory; it blocks all who publish. */
export async function memoryAlarm(dir: string, on: boolean): Promise<void> {
  await rabbitmqctl(dir, "set_vm_memory_high_watermark", on ? "0.00001" : "0.9");
}

/** A quorum queue as with two of its three members gone: nobody answers for it, while the broker's other queues go on. */
export async function withoutLeader(dir: string, queue: string): Promise<void> {
  const found = `{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"${queue}">>))`;
  await rabbitmqctl(dir, "eval", `${found}, ra:stop_server(quorum_queues, amqqueue:get_pid(Q)).`);
}
