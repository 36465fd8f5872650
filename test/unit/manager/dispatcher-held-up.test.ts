import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type {
  CommandSender,
  CommandStore,
  DueCommand,
  SendOutcome,
} from "../../../services/observer-manager/src/operations/commands/command-store.ts";
import { Dispatcher } from "../../../services/observer-manager/src/operations/commands/dispatcher.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const tally = { applied() {}, putAside() {}, sent() {} };
const LIMIT = 2_000;

/** Commands that are due, and a broker that confirms starts when it is told to. */
class World implements CommandStore, CommandSender {
  readonly due: DueCommand[] = [];
  /** How many commands each claim found. */
  readonly claims: number[] = [];
  readonly sent: string[] = [];
  readonly confirms: (() => void)[] = [];
  nextInMs: number | null = null;
  isReady = true;

  put(count: number, kind: "start" | "stop"): void {
    for (let i = 0; i < count; i += 1)
      this.due.push({ id: `${kind} ${this.due.length}`, kind, sentCount: 0, start: {} } as unknown as DueCommand);
  }

  claimDue: CommandStore["claimDue"] = async (limit, _holdMs, _stopPauses, which = "all") => {
    const due = this.due.filter(({ kind }) => which === "all" || kind !== "start").slice(0, limit);
    for (const command of due) this.due.splice(this.due.indexOf(command), 1);
    this.claims.push(due.length);
    return { id: `claim-${this.claims.length}`, due };
  };

  async renew(): Promise<void> {}
  async settle(): Promise<void> {}
  async ready(): Promise<void> {}
  nextDueInMs = async (): Promise<number | null> => (this.due.length > 0 ? -1 : this.nextInMs);

  async send(due: DueCommand[]): Promise<SendOutcome[]> {
    this.sent.push(...due.map(({ kind }) => kind));
    if (due.some(({ kind }) => kind === "start")) await new Promise<void>((resolve) => this.confirms.push(resolve));
    return due.map(() => "sent");
  }

  get stopsSent(): number {
    return this.sent.filter((kind) => kind === "stop").length;
  }
}

describe("a dispatcher", () => {
  let world: World;
  let dispatcher: Dispatcher;

  function begin(): void {
    dispatcher = new Dispatcher(world, world, log, tally);
    dispatcher.start();
  }

  afterEach(async () => {
    const confirming = setInterval(() => {
      for (const confirm of world.confirms.splice(0)) confirm();
    }, 10);
    await dispatcher.stop();
    clearInterval(confirming);
  });

  it("sends a stop while a start of another pool waits for its confirm", async () => {
    world = new World();
    world.put(1, "start");
    begin();
    await vi.waitFor(() => expect(world.sent).toEqual(["start"]));
    for (let stops = 1; stops <= 3; stops += 1) {
      world.put(1, "stop");
      dispatcher.wake();
      await vi.waitFor(() => expect(world.stopsSent).toBe(stops), { timeout: 10_000 });
    }
    expect(world.confirms.length).toBe(1);
  });

  it("sends stops while thousands of starts wait for their confirms, and claims no more starts than two claims take", async () => {
    world = new World();
    world.put(3 * LIMIT, "start");
    begin();
    await vi.waitFor(() => expect(world.sent.length).toBe(2 * LIMIT));
    world.put(1, "stop");
    dispatcher.wake();
    await vi.waitFor(() => expect(world.stopsSent).toBe(1), { timeout: 10_000 });
    await delay(1_000);
    expect([world.sent.length, world.due.length]).toEqual([2 * LIMIT + 1, LIMIT]);
    expect(world.claims.length).toBeLessThan(12);
    world.confirms[0]?.();
    await vi.waitFor(() => expect(world.sent.length).toBe(3 * LIMIT + 1), { timeout: 10_000 });
  });

  it("takes what comes while the broker confirms by one claim, and claims nothing while nothing is due", async () => {
    world = new World();
    world.put(1, "start");
    begin();
    await vi.waitFor(() => expect(world.confirms.length).toBe(1));
    for (let i = 0; i < 10; i += 1) {
      world.put(10, "start");
      dispatcher.wake();
      await Promise.resolve();
    }
    world.confirms[0]?.();
    await vi.waitFor(() => expect(world.claims.slice(0, 2)).toEqual([1, 100]));
    world.confirms[1]?.();
    await delay(1_000);
    expect(world.claims.length).toBeLessThan(4);
  });

  it("looks no more often than now and then at a command that is due and that somebody else has locked", async () => {
    world = new World();
    world.nextInMs = -5_000;
    const beganMs = performance.now();
    begin();
    await vi.waitFor(() => expect(world.claims.length).toBeGreaterThan(5), { timeout: 10_000 });
    expect(performance.now() - beganMs).toBeGreaterThan(4 * 100);
  });
});
