import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const CREATES = 200;

describe("when the manager is killed", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
  });
  afterEach(() => system.close());

  it.runIf(isTurnOf(0))(
    "services die and are born and handlers fail without it, and the books agree with reality when it is back",
    async () => {
      const manager = await system.startManager();
      await system.startService("service-1");
      await system.startService("service-2");
      const observers = await system.createMany("observer", 10);
      await system.createMany("failing", 2, { throwAfterMs: 10_000 }, { retry: { maxAttempts: 1 } });
      await manager.kill("SIGKILL");

      await system.service("service-1").kill("SIGKILL");
      const third = await system.startService("service-3", { workers: 20, untilKnown: false });
      await third.waitForEvent("listening");
      await system.service("service-2").kill("SIGKILL");
      await eventually(() => expect(system.actingByPid().get(third.pid)?.size).toBe(10), { timeoutMs: 15_000 });

      const startedMs = performance.now();
      await system.startManager();
      await system.untilStatus(
        observers.map((one) => one.id),
        "Processing",
      );
      await system.untilStatus(["failing-0", "failing-1"], "Failed");
      await eventually(
        async () => {
          const services = await system.listServices("?all=true");
          expect(services.map((one) => [one.name, one.state]).toSorted()).toEqual([
            ["service-1", "Gone"],
            ["service-2", "Gone"],
            ["service-3", "Alive"],
          ]);
        },
        { timeoutMs: 15_000 },
      );
      console.log(`books right ${(performance.now() - startedMs).toFixed(0)} ms after the manager's start`);
      await system.check();
    },
  );

  it.runIf(isTurnOf(2))(
    "at random moments during hundreds of creates, every observer that was accepted runs exactly once",
    async () => {
      await system.startManager();
      await Promise.all([1, 2].map((i) => system.startService(`service-${i}`, { workers: 400 })));
      const port = Number(new URL(system.url).port);
      const accepted = new Set<string>();
      let isKilling = true;
      const killer = (async () => {
        while ((isKilling || system.managers.length < 3) && system.managers.length < 12) {
          await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400));
          await system.managers.at(-1)?.kill("SIGKILL");
          await system.startManager({ port });
        }
      })();
      let next = 0;
      const client = async () => {
        for (let i = next++; i < CREATES; i = next++) {
          // An answer that never came may have been accepted: with an id of its own the request can be repeated.
          const id = `0190b7c8-2222-7000-8000-${String(i).padStart(12, "0")}`;
          await eventually(
            async () => {
              const answer = await system.create(`observer-${i}`, { everyMs: 200 }, { id });
              if (answer.status === 201 || answer.status === 200) accepted.add(answer.body.id);
              expect([200, 201]).toContain(answer.status);
            },
            { timeoutMs: 60_000, what: `the creation of observer-${i}` },
          );
        }
      };
      await Promise.all(Array.from({ length: 8 }, client));
      isKilling = false;
      await killer;
      console.log(`${CREATES} creates over ${system.managers.length} managers`);
      expect(accepted.size).toBe(CREATES);
      expect(system.managers.length).toBeGreaterThan(2);
      await system.untilStatus([...accepted], "Processing", 30_000);
      await system.check({ timeoutMs: 30_000, maxOverlapMs: 3_000 });
    },
    240_000,
  );

  it.runIf(isTurnOf(1))("with a second manager at work, REST goes on there and it takes over the state queue", async () => {
    const first = await system.startManager();
    const firstUrl = system.url;
    const second = await system.startManager();
    await system.startService("service-1", { workers: 20 });
    const viaBoth = await Promise.all(
      [firstUrl, system.url].map((url, i) =>
        system.call<{ id: string }>("POST", "/api/v1/observers", { name: `before-${i}`, type: "stamp", params: {} }, url),
      ),
    );
    expect(viaBoth.map((one) => one.status)).toEqual([201, 201]);
    await system.untilStatus(["before-0", "before-1"], "Processing");
    for (const { body } of viaBoth) await system.call("DELETE", `/api/v1/observers/${body.id}`);
    await system.untilStatus(
      viaBoth.map((one) => one.body.id),
      "Deleted",
    );

    const stateQueue = await system.management.queue("unacked.state");
    expect(stateQueue.arguments).toMatchObject({ "x-single-active-consumer": true });
    await eventually(async () => expect((await system.management.queue("unacked.state")).consumers).toBe(2));
    await first.kill("SIGKILL");
    await system.createMany("after", 5);
    expect(second.exit()).toBeNull();
    await eventually(async () => expect((await system.management.queue("unacked.state")).consumers).toBe(1));
    await system.check();
  });
});

describe("when the manager stands still", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
  });
  afterEach(() => system.close());

  const LONGEST_LINE = Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));

  it.runIf(LONGEST_LINE >= 2_000)("1,500 that connect meanwhile wait in its line, and are answered after it", async () => {
    const manager = await system.startManager();
    const port = Number(new URL(system.url).port);
    await manager.kill("SIGSTOP");
    const sockets = Array.from({ length: 1_500 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    await Promise.all(sockets.map((socket) => once(socket, "connect", { signal: AbortSignal.timeout(30_000) })));
    const answers = sockets.map(async (socket) => {
      socket.write("GET /healthz HTTP/1.1\r\nhost: manager\r\nconnection: close\r\n\r\n");
      return String(Buffer.concat(await socket.toArray())).split("\r\n")[0];
    });
    await manager.kill("SIGCONT");
    expect(new Set(await Promise.all(answers))).toEqual(new Set(["HTTP/1.1 200 OK"]));
  });
});
