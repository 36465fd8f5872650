import { join } from "node:path";
import type { LogEntry, ObserverLogs, ProblemDetails } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startProcess } from "../support/processes/processes.ts";
import { CLI_FILE, runCli } from "../support/processes/unacked-cli.ts";
import { type EventClient, followEvents, type SentEvent } from "../support/rest/event-client.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
beforeEach(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("service-1");
});
afterEach(() => system.close());

const logs = (ref: string, query = "") =>
  system.call<ObserverLogs & Pick<ProblemDetails, "code" | "detail">>("GET", `/api/v1/observers/${ref}/logs${query}`);

const follow = (ref: string, query = "", headers: Record<string, string> = {}) =>
  followEvents(`${system.url}/api/v1/observers/${ref}/logs?follow=true${query}`, headers);

const namesOf = (client: EventClient) => client.events.filter(({ event }) => event !== "entry").map(({ event }) => event);
const entriesOf = (client: EventClient): (SentEvent & { data: LogEntry })[] =>
  client.events.filter(({ event }) => event === "entry");

const until = <T>(what: string, look: () => T | Promise<T>) => eventually(look, { timeoutMs: 30_000, what });

/** Of each run in turn: its service, and the numbers of what it said. */
function runsIn(client: EventClient): { service: string; seqs: number[] }[] {
  const runs: { service: string; seqs: number[] }[] = [];
  for (const { event, data } of client.events) {
    if (event === "run") runs.push({ service: data.service.name, seqs: [] });
    if (event === "entry") runs.at(-1)?.seqs.push(data.seq);
  }
  return runs;
}

const fromOne = (seqs: number[]): number[] => seqs.map((_, index) => index + 1);

describe("the logs of an observer", () => {
  it.runIf(isTurnOf(1))("that runs are its last lines and emitted values", async () => {
    await system.createMany("talker", 1, { sayEveryMs: 250 }); // a hundred, behind which some are omitted, are far off then
    const { body } = await until("six entries", async () => {
      const answer = await logs("talker-0");
      expect(answer.body.entries.length).toBeGreaterThanOrEqual(6);
      return answer;
    });
    expect(body).toMatchObject({
      observer: { name: "talker-0" },
      status: "Processing",
      run: { isCurrent: true, service: { name: "service-1" } },
      omitted: 0,
      reason: null,
    });
    expect(body.entries.slice(0, 2)).toEqual([
      { kind: "log", seq: 1, at: expect.any(String), cut: false, level: "info", message: "said", fields: { times: 1 } },
      { kind: "emit", seq: 2, at: expect.any(String), cut: false, value: { times: 1 } },
    ]);
    const two = (await logs("talker-0", "?limit=2")).body;
    expect(two.entries).toHaveLength(2);
    expect(two.omitted).toBe((two.entries[1]?.seq ?? 0) - 2);
    expect((await logs("talker-0", "?limit=-1")).body).toMatchObject({ code: "invalid-query" });
    expect((await logs("nobody")).body).toMatchObject({ status: 404, code: "observer-not-found" });
  });

  it.runIf(isTurnOf(2))(
    "are followed over a kill -9 of its service: nothing twice, and it is said where it runs",
    async () => {
      await system.createMany("talker", 1, { sayEveryMs: 200 });
      const client = await follow("talker-0");
      expect(client.response.headers.get("content-type")).toContain("text/event-stream");
      await until("entries of the first run", () => expect(entriesOf(client).length).toBeGreaterThan(5));
      await system.startService("service-2");
      await system.service("service-1").kill("SIGKILL");
      await until("entries of the second run", () => expect(runsIn(client)[1]?.seqs.length).toBeGreaterThan(5));
      const [first, second, ...others] = runsIn(client);
      expect([first?.service, second?.service, others]).toEqual(["service-1", "service-2", []]);
      expect(first?.seqs).toEqual(fromOne(first?.seqs ?? []));
      expect(second?.seqs).toEqual(fromOne(second?.seqs ?? []));
      client.close();

      // Another client, or the same one after a break, goes on behind the last entry it has.
      const place = entriesOf(client).at(-1)?.id ?? "";
      const again = await follow("talker-0", "", { "last-event-id": place });
      await until("entries after the place", () => expect(entriesOf(again).length).toBeGreaterThan(3));
      expect(entriesOf(again)[0]?.data.seq).toBe(Number(place.split(".")[1]) + 1);
      again.close();
      await system.check();
    },
  );

  it.runIf(isTurnOf(2))("of one that nobody has are waited for, and the stream ends with the observer", async () => {
    await system.service("service-1").kill("SIGKILL");
    const { body } = await system.create("talker", { sayEveryMs: 50 }, { whenFull: "queue" });
    expect((await logs("talker")).body).toMatchObject({ status: "Created", run: null, entries: [], reason: "no-run" });
    const client = await follow("talker", "&limit=0");
    await until("the reason", () =>
      expect(client.events[0]).toMatchObject({ event: "waiting", data: { reason: "no-run" } }),
    );
    await system.startService("service-2");
    await until("entries", () => expect(entriesOf(client).length).toBeGreaterThan(2));
    await system.remove(body.id);
    await client.ended;
    expect(namesOf(client).slice(0, 2)).toEqual(["waiting", "run"]);
    expect(client.events.at(-1)).toEqual({ event: "end", data: { status: "Deleted" } });
    // Its last words were told before that, and can still be had.
    const after = await logs(body.id);
    expect(after.body).toMatchObject({ status: "Deleted", run: { isCurrent: false } });
    expect(after.body.entries.at(-1)?.seq).toBe(entriesOf(client).at(-1)?.data.seq);
    await system.check();
  });

  it.runIf(isTurnOf(0))("that failed are had as long as its service lives", async () => {
    await system.create("fails", { throwAfterMs: 100, sayEveryMs: 60_000 }, { retry: { maxAttempts: 1 } });
    await system.untilStatus(["fails"], "Failed");
    expect((await logs("fails")).body).toMatchObject({
      status: "Failed",
      run: { isCurrent: false, service: { name: "service-1" } },
      reason: null,
      entries: [{ message: "said" }, { value: { times: 1 } }, { message: "the handler failed: Error: thrown on request" }],
    });
    const client = await follow("fails");
    await client.ended;
    expect(client.events.map(({ event }) => event)).toEqual(["run", "entry", "entry", "entry", "end"]);
    await system.service("service-1").kill("SIGKILL");
    await until("the service's end", async () =>
      expect((await logs("fails")).body).toMatchObject({ status: "Failed", entries: [], reason: "service-gone" }),
    );
  });

  it.runIf(isTurnOf(1))("on a frozen service are refused in time, with what to look at; a stream waits for it", async () => {
    await system.createMany("talker", 1, { sayEveryMs: 50 });
    const client = await follow("talker-0");
    await until("entries", () => expect(entriesOf(client).length).toBeGreaterThan(2));
    await system.service("service-1").kill("SIGSTOP");
    const startedMs = performance.now();
    const { headers, body } = await logs("talker-0");
    const tookMs = performance.now() - startedMs;
    await until("the reason", () => expect(client.events.at(-1)).toMatchObject({ data: { reason: "no-answer" } }));
    await system.service("service-1").kill("SIGCONT");
    expect(body).toMatchObject({ status: 503, code: "logs-unavailable", detail: "The service service-1 does not answer" });
    expect(headers.get("retry-after")).toBe("2");
    expect(tookMs).toBeLessThan(20_000);
    const before = entriesOf(client).length;
    await until("more entries", () => expect(entriesOf(client).length).toBeGreaterThan(before));
    expect(runsIn(client).every(({ seqs }) => seqs.every((seq, i) => i === 0 || seq > (seqs[i - 1] ?? 0)))).toBe(true);
    expect((await logs("talker-0")).status).toBe(200);
  });

  it.runIf(isTurnOf(2))("end with the manager", async () => {
    await system.createMany("talker", 1, { sayEveryMs: 50 });
    const client = await follow("talker-0");
    await until("entries", () => expect(entriesOf(client).length).toBeGreaterThan(2));
    expect(await system.managers[0]?.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await client.ended;
    expect(namesOf(client)).toEqual(["run"]);
  });
});

describe("unacked logs", () => {
  const env = () => ({
    UNACKED_URL: system.url,
    UNACKED_TOKEN: "",
    XDG_CONFIG_HOME: join(temporaryFolder("cli"), "config"),
  });

  it.runIf(isTurnOf(0))(
    "prints what was said, follows it over managers and services, and tells what one threw",
    async () => {
      const { port } = new URL(system.url);
      await system.createMany("talker", 1, { sayEveryMs: 100 });
      const run = (...args: string[]) => runCli(["logs", ...args], { env: env(), cwd: temporaryFolder("cli") });
      const shown = await until("four entries", async () => {
        const answer = await run("talker-0", "--tail", "4");
        expect(answer.out.split("\n")).toHaveLength(5);
        return answer;
      });
      expect(shown.code).toBe(0);
      expect(shown.out).toMatch(/^(?:\d{4}-\S+Z (?:info  said|emit ) \{"times":\d+\}\n){4}$/);
      const [first] = (await run("talker-0", "-o", "json", "--tail", "1")).out.split("\n");
      expect(JSON.parse(first ?? "")).toMatchObject({ kind: expect.any(String), service: "service-1", cut: false });

      const following = startProcess({ file: CLI_FILE, args: ["logs", "-f", "talker-0", "--tail", "0"], env: env() });
      await following.waitForLine((line) => line === "observer talker-0 on service-1:");
      await following.waitForLine((line) => / info {2}said /.test(line));
      await system.managers[0]?.kill("SIGKILL");
      await following.waitForLine((line) => line.startsWith("The connection was lost"));
      await system.startManager({ port: Number(port) });
      await system.startService("service-2");
      await system.service("service-1").kill("SIGKILL");
      await following.waitForLine((line) => line === "observer talker-0 on service-2:", { timeoutMs: 30_000 });
      await system.remove("talker-0");
      expect(await following.exited).toEqual({ code: 0, signal: null });
      expect(following.lines.at(-1)).toBe("observer talker-0 is Deleted.");
      const said = following.lines.flatMap((line) => / info {2}said (\{.*\})/.exec(line)?.[1] ?? []);
      expect(said.length).toBeGreaterThan(3);

      await system.create("mute", {});
      await system.untilStatus(["mute"], "Processing");
      const silent = { code: 0, out: "", err: expect.stringContaining("It has logged and emitted nothing. What it prints") };
      expect(await run("mute")).toMatchObject(silent);

      await system.create("fails", { throwAfterMs: 50 }, { retry: { maxAttempts: 1 } });
      await system.untilStatus(["fails"], "Failed");
      expect(await run("fails")).toMatchObject({
        code: 0,
        out: expect.stringMatching(/ error the handler failed: Error: thrown on request\n {4}at nastyValue /),
        err: "observer fails is Failed: this is of its last run.\n",
      });
      expect(await run("nobody")).toMatchObject({ code: 1, err: expect.stringContaining("No such observer") });
      await system.service("service-2").kill("SIGSTOP");
      const { id } = (await system.listObservers("&status=Failed"))[0] ?? { id: "" };
      const frozen = await run(id);
      await system.service("service-2").kill("SIGCONT");
      expect(frozen).toMatchObject({ code: 3, err: expect.stringContaining("The service service-2 does not answer") });
    },
  );
});
