import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Rabbitmq } from "../../../scripts/servers/rabbitmq.mjs";
import { overlaps, readStamps, type Stamp } from "../acts/stamps.ts";
import { tcpProxy } from "../broker/tcp-proxy.ts";
import { eventually } from "../eventually.ts";
import { temporaryFolder } from "../servers/servers.ts";
import { standIn, startObserverService } from "./observer-service.ts";

export interface TakeoverOptions {
  /** `HEARTBEAT_S` of both. */
  heartbeatS: number;
  observers: number;
  /** Of the observers, beside their file. */
  params?: object;
  /** Of the holder. */
  slots?: "auto" | "0";
  /** Not given: the run's own. */
  broker?: Rabbitmq;
}

/** One service behind a wire that can be cut runs every observer; another has free workers for all of them. */
export async function holderAndHeir({ heartbeatS, observers, params = {}, slots = "auto", broker }: TakeoverOptions) {
  const manager = await standIn(broker);
  const wire = await tcpProxy(manager.amqpUrl);
  const file = join(temporaryFolder("stamps"), "stamps.jsonl");
  const env = { HEARTBEAT_S: String(heartbeatS) };
  const holder = startObserverService(wire.through(manager.amqpUrl), { name: "holder", env: { ...env, SLOTS: slots } });
  const services = [holder];
  onTestFinished(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await manager.close();
    await wire.close();
  });
  await manager.waitFor("ServiceBorn");
  await Promise.all(Array.from({ length: observers }, () => manager.start({ params: { file, ...params } })));
  await eventually(() => expect(actingFor(readStamps(file), "holder")).toBe(observers));
  const heir = startObserverService(manager.amqpUrl, { name: "heir", env });
  services.push(heir);
  await manager.waitFor("ServiceBorn", (event) => event.pid === heir.pid);

  /** Until the heir runs everything. */
  const takenOver = (timeoutMs: number) =>
    eventually(() => expect(actingFor(readStamps(file), "heir")).toBe(observers), {
      timeoutMs,
      what: "the heir running everything",
    });
  /** How long two runs of one observer acted side by side, at most. */
  const longestOverlapMs = () => Math.max(0, ...overlaps(readStamps(file)).map((overlap) => overlap.ms));
  return { manager, wire, holder, heir, file, takenOver, longestOverlapMs };
}

const actingFor = (stamps: readonly Stamp[], service: string): number =>
  new Set(stamps.filter((stamp) => stamp.serviceName === service && stamp.kind === "act").map((stamp) => stamp.observerId))
    .size;
