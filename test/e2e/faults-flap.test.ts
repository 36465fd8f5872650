import { type ObserverView, workQueueName } from "@unacked/contracts";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { rabbitmqctl } from "../support/broker/rabbitmqctl.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshVhost, type PrivateBroker, privateBroker } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let broker: PrivateBroker;
let system: System;
let vhost: string;
beforeAll(async () => {
  broker = await privateBroker();
});
afterEach(() => system.close());

async function systemOnQuorumQueues(): Promise<void> {
  const own = await freshVhost(broker);
  vhost = own.vhost;
  system = await freshSystem({ ...own, env: { WORK_QUEUE_TYPE: "quorum" } });
  await system.startManager();
}

/**
 * What the leader of a quorum queue is told when the node of its consumers goes out of reach, and when it comes back, told to it by
 * hand: until RabbitMQ 4.2 it takes back all that they hold and gives it out again, while they live on and hear of nothing.
 */
async function flap(): Promise<void> {
  const program = [
    `{ok, Queue} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"${vhost}">>, queue, <<"${workQueueName("default")}">>)),`,
    "Leader = amqqueue:get_pid(Queue),",
    "{ok, _, _} = ra:process_command(Leader, {down, self(), noconnection}),",
    "{ok, _, _} = ra:process_command(Leader, {nodeup, node()}).",
  ];
  await rabbitmqctl(broker.dir, "eval", program.join(" "));
}

/** Some service got a message that it holds, whatever it made of that. */
const untilNoticed = () =>
  eventually(() => {
    const lines = [...system.services.values()].flatMap((service) => service.lines);
    expect(lines.some((line) => /"(lease-lost|duplicate-dropped)"/.test(line))).toBe(true);
  });

/** Still the first message of each: none was acked, and sent again when it was missed. */
async function expectFirstMessages(observers: ObserverView[]): Promise<void> {
  const now = await system.observers(observers.map(({ id }) => id));
  expect(now.map(({ status, revision }) => [status, revision])).toEqual(now.map(() => ["Processing", 1]));
}

const fencedAs = (name: string) =>
  eventually(() =>
    expect(system.service(name).lines.filter((line) => line.includes('"lease-lost"'))).toEqual(
      expect.arrayContaining([expect.stringContaining('"why":"taken-back"')]),
    ),
  );

describe("messages that the broker takes back without a word, and gives out again", () => {
  it.runIf(isTurnOf(0))(
    "to the service that has them: it knows by that, loses its lease, and no message is acked",
    async () => {
      await systemOnQuorumQueues();
      await system.startService("a", { workers: 5 });
      const observers = await system.createMany("o", 5);
      await flap();
      await untilNoticed();
      await system.check();
      await system.service("a").kill("SIGKILL");
      await system.startService("b", { workers: 5 });
      await system.untilStatus(
        observers.map(({ id }) => id),
        "Processing",
      );
      await system.check();
      await expectFirstMessages(observers);
      expect(system.reportOverlap("flap, one service", observers)).toBe(0);
      await fencedAs("a");
    },
  );

  it.runIf(isTurnOf(2))(
    "to another service too: the runs that have them now are current, and the older ones end",
    async () => {
      await systemOnQuorumQueues();
      await system.startService("a", { workers: 6 });
      const observers = await system.createMany("o", 6);
      await system.startService("b", { workers: 6 });
      await flap();
      await untilNoticed();
      await system.check({ maxOverlapMs: 3_000 });
      await expectFirstMessages(observers);
      system.reportOverlap("flap, two services", observers);
      await fencedAs("a");
    },
  );
});
