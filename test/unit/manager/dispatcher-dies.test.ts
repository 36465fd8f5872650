import { newObserverId, newServiceId } from "@unacked/contracts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type {
  Claim,
  CommandSender,
  CommandStore,
  DueCommand,
  SendOutcome,
  Settled,
} from "../../../services/observer-manager/src/operations/commands/command-store.ts";
import { Dispatcher } from "../../../services/observer-manager/src/operations/commands/dispatcher.ts";
import type { OwnStart } from "../../../services/observer-manager/src/operations/commands/own-starts.ts";
import { Dying } from "../../support/ports/dying.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const tally = { applied() {}, putAside() {}, sent() {} };

/** As the table of commands behaves (docs/decisions/0009), without a table: a clock that only `claimsRunOut` moves. */
class Commands implements CommandStore {
  readonly rows = new Map<string, { command: DueCommand; claim: string | null; isDue: boolean }>();
  readonly unsentStops: string[] = [];
  #claims = 0;

  add(command: DueCommand, claim: string | null = null): void {
    this.rows.set(command.id, { command, claim, isDue: true });
  }

  claimsRunOut(): void {
    for (const row of this.rows.values()) Object.assign(row, { claim: null, isDue: true });
  }

  async claimDue(): Promise<Claim> {
    this.#claims += 1;
    const id = `claim-${this.#claims}`;
    const due = [...this.rows.values()].filter((row) => row.isDue && row.claim === null);
    // A stop is taken for sent.
    for (const row of due) Object.assign(row, row.command.kind === "stop" ? { isDue: false } : { claim: id });
    return { id, due: due.map(({ command }) => command) };
  }

  readonly renewed: { claim: string; ids: string[] }[] = [];

  async renew({ id, due }: Claim): Promise<void> {
    this.renewed.push({ claim: id, ids: due.map((command) => command.id) });
  }

  async settle({ id }: Pick<Claim, "id">, settled: Settled[]): Promise<void> {
    for (const one of settled) {
      const row = this.rows.get(one.id);
      if (one.keep === "unsent-stop") this.unsentStops.push(one.id);
      if (row?.claim !== id) continue;
      if (one.keep) Object.assign(row, { claim: null, isDue: false });
      else this.rows.delete(one.id);
    }
  }

  async nextDueInMs(): Promise<number | null> {
    return null;
  }
}

class Broker implements CommandSender {
  readonly sent: string[] = [];
  readonly outcome: SendOutcome;

  constructor(outcome: SendOutcome = "sent") {
    this.outcome = outcome;
  }

  isReady = true;

  async ready(): Promise<void> {}

  async send(due: DueCommand[]): Promise<SendOutcome[]> {
    this.sent.push(...due.map(({ id }) => id));
    return due.map(() => this.outcome);
  }
}

const STOP: DueCommand = { id: "stop", sentCount: 0, kind: "stop", observerId: newObserverId(), revision: 1 };
const PROBE: DueCommand = { id: "probe", sentCount: 0, kind: "probe", serviceId: newServiceId(), generation: 1 };
const UNWANTED: DueCommand = { id: "unwanted", sentCount: 0, kind: "start", start: null };

describe("a dispatcher", () => {
  const steps = [1, 2, 3].flatMap((at) => (["before", "after"] as const).map((when) => [when, at] as const));

  it.each(steps)("that dies %s its step %i leaves a successor that sends each, at most once more", async (when, at) => {
    const [commands, broker] = [new Commands(), new Broker()];
    for (const command of [STOP, PROBE, UNWANTED]) commands.add(command);
    const process = new Dying(at, when);
    const first = new Dispatcher(
      process.port<CommandStore>(commands, ["nextDueInMs"]),
      process.port<CommandSender>(broker, ["ready"]),
      log,
      tally,
    );
    first.start();
    await process.died;

    commands.claimsRunOut();
    const successor = new Dispatcher(commands, broker, log, tally);
    successor.start();
    // A stop waits for its answer; the probe and the start that nobody wants any more are done.
    await vi.waitFor(() =>
      expect([...commands.rows.values()]).toMatchObject([{ command: STOP, claim: null, isDue: false }]),
    );
    await successor.stop();
    const wasSettled = when === "after" && at === 3;
    const wasSent = wasSettled || at === 3 || (when === "after" && at === 2);
    // It is sent until it is answered, whatever became of the first.
    expect(broker.sent.filter((id) => id === "stop").length).toBe(wasSent ? 2 : 1);
    expect(broker.sent.filter((id) => id === "probe").length).toBe(wasSent && !wasSettled ? 2 : 1);
    expect(broker.sent).not.toContain("unwanted");
  });

  it("keeps what was not sent, and what a held-up pool has to wait for; what a dead generation was told is done", async () => {
    for (const [outcome, left] of [
      ["failed", ["stop-run"]],
      ["held-up", ["stop-run"]],
      ["gone", []],
    ] as const) {
      const [commands, broker] = [new Commands(), new Broker(outcome)];
      commands.add({ ...PROBE, id: "stop-run", kind: "drain" });
      const dispatcher = new Dispatcher(commands, broker, log, tally);
      dispatcher.start();
      await vi.waitFor(() => expect([...commands.rows.values()].every(({ isDue }) => !isDue)).toBe(true));
      await dispatcher.stop();
      expect([...commands.rows.keys()], outcome).toEqual(left);
    }
  });

  it("has a stop that was sent stand as its claim left it, and says which was not", async () => {
    for (const [outcome, unsent, settlements] of [
      ["sent", [], 0],
      ["failed", ["stop"], 1],
    ] as const) {
      const [commands, broker] = [new Commands(), new Broker(outcome)];
      commands.add(STOP);
      const settle = vi.spyOn(commands, "settle");
      const dispatcher = new Dispatcher(commands, broker, log, tally);
      dispatcher.start();
      await vi.waitFor(() => expect(broker.sent).toEqual(["stop"]));
      await dispatcher.stop();
      expect([commands.unsentStops, settle.mock.calls.length], outcome).toEqual([unsent, settlements]);
    }
  });

  it("whose database goes away after sending sends nothing twice: it writes down what was sent once it is back", async () => {
    const [commands, broker] = [new Commands(), new Broker()];
    commands.add(PROBE);
    const settle = commands.settle.bind(commands);
    let failures = 0;
    commands.settle = async (claim, settled) => {
      failures += 1;
      if (failures === 1) throw new Error("the database is away");
      return settle(claim, settled);
    };
    const dispatcher = new Dispatcher(commands, broker, log, tally);
    dispatcher.start();
    await vi.waitFor(() => expect(commands.rows.size).toBe(0), { timeout: 5_000 });
    await dispatcher.stop();
    expect([broker.sent, failures]).toEqual([["probe"], 2]);
  });
});

/** Written by the transaction that creates its observer. */
function ownStart(commands: Commands, id: string, claim: string | undefined, params = {}): OwnStart {
  const start = { observerId: newObserverId(), revision: 1, params } as OwnStart["start"];
  commands.add({ id, sentCount: 0, kind: "start", start }, claim ?? null);
  return { id, start, traceContext: null };
}

describe("own starts", () => {
  it("are sent without being claimed, and written down together", async () => {
    const [commands, broker] = [new Commands(), new Broker()];
    const settle = vi.spyOn(commands, "settle");
    const dispatcher = new Dispatcher(commands, broker, log, tally);
    dispatcher.start();
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) dispatcher.ownStarts.send([ownStart(commands, id, dispatcher.ownStarts.claim(1, 1))]);
    await vi.waitFor(() => expect(commands.rows.size).toBe(0));
    await dispatcher.stop();
    expect(broker.sent).toEqual(ids);
    expect(settle.mock.calls.map(([, settled]) => settled.length)).toEqual([1, 3]);
  });

  it("of a large batch are sent by two thousand, two of them at a time; as many more are left to be claimed", async () => {
    const [commands, broker] = [new Commands(), new Broker()];
    const confirms: (() => void)[] = [];
    const sizes: number[] = [];
    broker.send = (due) => {
      sizes.push(due.length);
      return new Promise((resolve) => confirms.push(() => resolve(due.map(() => "sent"))));
    };
    const dispatcher = new Dispatcher(commands, broker, log, tally);
    const claim = dispatcher.ownStarts.claim(10_000, 10_000);
    dispatcher.ownStarts.send(Array.from({ length: 10_000 }, (_, i) => ownStart(commands, String(i), claim)));
    expect(dispatcher.ownStarts.claim(2_000, 2_000)).toBe(claim);
    expect(dispatcher.ownStarts.claim(2_001, 2_001)).toBeUndefined();
    for (let confirmed = 0; confirmed < 5; confirmed += 1) {
      await vi.waitFor(() => expect(sizes).toEqual(Array(Math.min(5, confirmed + 2)).fill(2_000)));
      confirms[confirmed]?.();
    }
    await vi.waitFor(() => expect(commands.rows.size).toBe(0));
    await vi.waitFor(() => expect(dispatcher.ownStarts.claim(12_000, 12_000)).toBe(claim));
  });

  it("with long params are left to be claimed while what they have together is not confirmed", async () => {
    const [commands, broker] = [new Commands(), new Broker()];
    const confirms: (() => void)[] = [];
    broker.send = (due) => new Promise((resolve) => confirms.push(() => resolve(due.map(() => "sent"))));
    const dispatcher = new Dispatcher(commands, broker, log, tally);
    const claim = dispatcher.ownStarts.claim(1, 1);
    const params = { text: "x".repeat(262_144) }; // one string: what is tested is how it is counted
    const starts = Array.from({ length: 1_000 }, (_, i) => ownStart(commands, String(i), claim, params));
    dispatcher.ownStarts.send(starts);
    expect(dispatcher.ownStarts.claim(1, 1)).toBeUndefined();
    await vi.waitFor(() => expect(confirms).toHaveLength(1));
    confirms[0]?.();
    await vi.waitFor(() => expect(dispatcher.ownStarts.claim(1, 1)).toBe(claim));
  });

  it("are left to be claimed while nothing can be sent, and by a dispatcher that ends", async () => {
    const [commands, broker] = [new Commands(), new Broker()];
    const dispatcher = new Dispatcher(commands, broker, log, tally);
    dispatcher.start();
    broker.isReady = false;
    expect(dispatcher.ownStarts.claim(1, 1)).toBeUndefined();
    broker.isReady = true;
    expect(dispatcher.ownStarts.claim(1, 1)).toBeDefined();
    await dispatcher.stop();
    expect(dispatcher.ownStarts.claim(1, 1)).toBeUndefined();
  });

  it("stay claimed for as long as the broker does not confirm them, and are waited for by a dispatcher that ends", async () => {
    const [commands, broker] = [new Commands(), new Broker()];
    let confirm: () => void = () => undefined;
    broker.send = (due) => new Promise((resolve) => (confirm = () => resolve(due.map(() => "sent"))));
    const dispatcher = new Dispatcher(commands, broker, log, tally);
    dispatcher.start();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const claim = dispatcher.ownStarts.claim(1, 1) ?? expect.fail("there is room");
    dispatcher.ownStarts.send([ownStart(commands, "a", claim)]);
    let isStopped = false;
    const stopped = dispatcher.stop().then(() => (isStopped = true));
    // A claim holds for ten seconds: renewed each three it outlives two renewals that fail.
    await vi.advanceTimersByTimeAsync(30_000);
    expect(commands.renewed).toEqual(Array.from({ length: 10 }, () => ({ claim, ids: ["a"] })));
    expect(isStopped).toBe(false);
    confirm();
    await stopped;
    expect(commands.rows.size).toBe(0);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(commands.renewed).toHaveLength(10);
  });

  it("that were not confirmed are due again a moment later", async () => {
    const [commands, broker] = [new Commands(), new Broker("failed")];
    const dispatcher = new Dispatcher(commands, broker, log, tally);
    const claims = vi.spyOn(commands, "claimDue");
    dispatcher.start();
    await vi.waitFor(() => expect(claims).toHaveBeenCalledTimes(1));
    dispatcher.ownStarts.send([ownStart(commands, "a", dispatcher.ownStarts.claim(1, 1))]);
    await vi.waitFor(() => expect([...commands.rows.values()]).toMatchObject([{ claim: null, isDue: false }]));
    // It looks when that will be.
    await vi.waitFor(() => expect(claims).toHaveBeenCalledTimes(2));
    await dispatcher.stop();
  });

  it.each([
    ["before", 1, 1],
    ["after", 1, 2],
    ["before", 2, 2],
    ["after", 2, 1],
  ] as const)("of a manager that dies %s its step %i are sent %i times in all", async (when, at, times) => {
    const [commands, broker] = [new Commands(), new Broker()];
    const process = new Dying(at, when);
    const store = process.port<CommandStore>(commands, ["nextDueInMs", "claimDue", "renew"]);
    const first = new Dispatcher(store, process.port<CommandSender>(broker, ["ready", "isReady"]), log, tally);
    first.ownStarts.send([ownStart(commands, "a", first.ownStarts.claim(1, 1))]);
    await process.died;
    commands.claimsRunOut();
    const successor = new Dispatcher(commands, broker, log, tally);
    successor.start();
    await vi.waitFor(() => expect(commands.rows.size).toBe(0));
    await successor.stop();
    expect(broker.sent).toEqual(Array(times).fill("a"));
  });
});
