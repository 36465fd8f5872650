import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ObserverView } from "@unacked/contracts";
import { type RunningExchange, startExchange } from "@unacked/demo";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutputTap, tapOutput } from "../support/acts/output-tap.ts";
import { type OwnBroker, systemOnOwnBroker } from "../support/broker/own-broker.ts";
import { memoryAlarm } from "../support/broker/rabbitmqctl.ts";
import { eventually } from "../support/eventually.ts";
import { scrape as metricsOf } from "../support/monitoring/scrape.ts";
import { proves } from "../support/runs/counts.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const WARN_MS = 2_000;
const RESTART_MS = 6_000;
const LONG_MS = 60_000;
/** What must not happen during an alarm has that long to. */
const ALARM_MS = proves("silence") ? 120_000 : 12_000;

/** As people see it: in the list under its filter, in the warnings and as a metric. */
async function seenSilent(system: System, pool: string): Promise<{ names: string[]; warned: boolean; counted: number }> {
  const listed = await system.listObservers(`&silent=true&pool=${pool}`);
  const { warnings } = await system.stats();
  const metrics = await metricsOf(system.url);
  return {
    names: listed.map(({ name }) => name).toSorted(),
    warned: warnings.some(({ code, subject }) => code === "observers-silent" && subject === pool),
    counted: metrics.value("unacked_observers_silent", { pool }) ?? 0,
  };
}

const PLACES = [
  { slots: "2", where: "slots" },
  { slots: "0", where: "the service itself" },
];
describe.each(inTurn(PLACES))("a feed that falls silent without closing, watched in $where", ({ slots }) => {
  const pool = `feeds-${slots}`;
  let system: System;
  let exchange: RunningExchange;
  let tap: OutputTap<{ sequence: number }>;

  beforeAll(async () => {
    system = await freshSystem();
    exchange = await startExchange({ tickMs: 100 });
    tap = await tapOutput(system.env.AMQP_URL ?? "", "price-watch.#");
    await system.startManager();
    const env = { OBSERVERS_DIR: "observers", ALLOW_PRIVATE_ADDRESSES: "true", POOL: pool, SLOTS: slots };
    await system.startService(`service-${slots}`, { env });
  }, 240_000);
  afterAll(async () => {
    await tap.close();
    await exchange.close();
    await system.close();
  });

  const create = async (name: string, product: string, silence: object | undefined) => {
    const params = { url: exchange.url, product, movePercent: 50, emitTicks: true };
    // As a person would have it whose attempts are dear: one failure costs no more than its delay.
    const retry = { maxAttempts: 5, delaysMs: [200] };
    const body = { name, type: "price-watch", pool, params, retry, ...(silence && { silence }) };
    const answer = await system.call<ObserverView>("POST", "/api/v1/observers", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body.id;
  };
  const ticksOf = (name: string): number => tap.messages.filter((one) => one.name === name).length;
  const untilTicks = (name: string, more: number) => {
    const wanted = ticksOf(name) + more;
    return eventually(() => expect(ticksOf(name)).toBeGreaterThan(wanted), { what: `ticks of ${name}`, timeoutMs: LONG_MS });
  };

  const untilSilent = (names: string[]) =>
    eventually(
      async () => expect(await seenSilent(system, pool)).toEqual({ names, warned: names.length > 0, counted: names.length }),
      { what: `that ${names.length} are seen to be silent`, timeoutMs: LONG_MS },
    );

  it("is marked and warned of, restarted by its retry policy, and subscribed anew; one that nobody watches stays deaf", async () => {
    const watched = await create("watched", "BTC-USD", { warnAfterMs: WARN_MS, restartAfterMs: RESTART_MS });
    const warnedOf = await create("warned-of", "SOL-USD", { warnAfterMs: WARN_MS });
    const unwatched = await create("unwatched", "ETH-USD", undefined);
    for (const name of ["watched", "warned-of", "unwatched"]) await untilTicks(name, 5);
    await untilSilent([]);
    expect((await system.get(watched)).silence).toEqual({ warnAfterMs: WARN_MS, restartAfterMs: RESTART_MS });

    exchange.fallSilent();
    const silentMs = performance.now();
    await untilSilent(["warned-of", "watched"]);
    const seenMs = performance.now() - silentMs;
    const silent = await system.get(warnedOf);
    expect(silent).toMatchObject({ status: "Processing", attempts: 1 });
    expect(Date.now() - Date.parse(String(silent.silentSince))).toBeGreaterThanOrEqual(WARN_MS - 500);

    await eventually(async () => expect((await system.get(watched)).lastError?.name).toBe("SilentError"), {
      what: "that its attempt fails",
      timeoutMs: LONG_MS,
    });
    const failedMs = performance.now() - silentMs;
    await eventually(
      async () => expect(await system.get(watched)).toMatchObject({ status: "Processing", attempts: 2, silentSince: null }),
      { what: "its next attempt", timeoutMs: LONG_MS },
    );
    await untilTicks("watched", 5);
    console.log(
      `silent feed (SLOTS=${slots}): warned of after ${seenMs.toFixed(0)} ms (limit ${WARN_MS}), failed after ${failedMs.toFixed(0)} ms (limit ${RESTART_MS}), ticks again after ${(performance.now() - silentMs).toFixed(0)} ms`,
    );
    const { lastError, runNumber } = await system.get(watched);
    expect(lastError?.message).toMatch(/^silent for 6 s/);
    expect(runNumber).toBe(1); // a failed attempt of the same run, as any other
    await untilSilent(["warned-of"]);
    expect(await system.get(unwatched)).toMatchObject({ status: "Processing", attempts: 1, silentSince: null });

    // A person restarts the one that is only warned of: it is heard, and the warning goes.
    await system.call("POST", `/api/v1/observers/${warnedOf}/restart`);
    await untilTicks("warned-of", 5);
    await untilSilent([]);
    await system.check({ pool, timeoutMs: LONG_MS });
  }, 240_000);
});

describe.runIf(isTurnOf(1))("silence and those who are not to blame", () => {
  let own: OwnBroker;
  let system: System;

  beforeAll(async () => {
    own = await systemOnOwnBroker();
    ({ system } = own);
    await system.startManager();
  }, 240_000);
  afterAll(() => own?.close());

  it("a broker alarm restarts nobody: neither who waits for it, nor who has nothing to say meanwhile", async () => {
    const service = await system.startService("service-1");
    const { url } = await service.waitForEvent("listening");
    const deafWhenFile = join(temporaryFolder("deaf"), "now");
    const silence = { warnAfterMs: 1_000, restartAfterMs: 3_000 };
    const more = { silence, retry: { maxAttempts: "unlimited", delaysMs: [100] } };
    const [emitting] = (await system.createMany("emitting", 1, { emitEveryMs: 100 }, more)) as [ObserverView];
    const [shouting] = (await system.createMany("shouting", 1, { sayEveryMs: 100 }, more)) as [ObserverView];
    const [deaf] = (await system.createMany("deaf", 1, { aliveEveryMs: 100, deafWhenFile }, more)) as [ObserverView];
    const failures = async () => {
      const metrics = await metricsOf(String(url));
      return [metrics.value("unacked_service_silence_failures_total"), metrics.value("unacked_service_silent_runs")];
    };
    await memoryAlarm(own.dir, true);
    await eventually(
      async () => {
        const readiness = (await (await fetch(`${String(url)}/readyz`)).json()) as { publisher: { blocked: boolean } };
        expect(readiness.publisher.blocked).toBe(true);
      },
      { what: "that the service is blocked", timeoutMs: LONG_MS },
    );
    writeFileSync(deafWhenFile, "");
    await new Promise((resolve) => setTimeout(resolve, ALARM_MS));
    expect(await failures()).toEqual([0, 0]);
    await memoryAlarm(own.dir, false);
    const overMs = performance.now();
    await eventually(async () => expect((await system.get(deaf.id)).lastError?.name).toBe("SilentError"), {
      what: "that the one which hears nothing fails, now that time counts",
      timeoutMs: LONG_MS,
    });
    console.log(
      `an alarm of ${ALARM_MS / 1_000} s restarted nobody; over: the deaf one failed ${(performance.now() - overMs).toFixed(0)} ms later (limit 3000)`,
    );
    for (const { id } of [emitting, shouting])
      expect(await system.get(id)).toMatchObject({ status: "Processing", attempts: 1, runNumber: 1, lastError: null });
  }, 300_000);

  it("one that does not even hear its stop is ended with its slot, and tried again; its neighbours go on", async () => {
    const pool = "stubborn";
    await system.startService("service-2", { env: { POOL: pool, STOP_TIMEOUT_MS: "2000", SLOTS: "1" } });
    const [neighbour] = (await system.createMany("neighbour", 1, { emitEveryMs: 100 }, { pool })) as [ObserverView];
    const silence = { restartAfterMs: 1_000 };
    const [stubborn] = (await system.createMany("stubborn", 1, { ignoreAbort: true }, { pool, silence })) as [ObserverView];
    await eventually(
      async () => {
        const { attempts, lastError } = await system.get(stubborn.id);
        expect(lastError?.name).toBe("SilentError");
        expect(attempts).toBeGreaterThanOrEqual(2); // a third may come before this looks
      },
      { what: "its second attempt", timeoutMs: LONG_MS },
    );
    await system.untilStatus([neighbour.id], "Processing", LONG_MS);
    expect(await system.get(neighbour.id)).toMatchObject({ attempts: 1, lastError: null });
    await system.call("DELETE", `/api/v1/observers/${stubborn.id}`);
  }, 240_000);
});
