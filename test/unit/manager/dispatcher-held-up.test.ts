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
/** The pool whose queue confirms at once. */
const CONFIRMED = "confirmed";

/** Commands that are due, and a broker that confirms starts when it is told to. */
class World implements CommandStore, CommandSender {
  due: DueCommand[] = [];
  readonly #claimed = new Map<string, DueCommand>();
  #ids = 0;
  /** How many commands each claim found. */
  readonly claims: number[] = [];
  readonly sent: string[] = [];
  readonly confirms: (() => void)[] = [];
  /** How many starts of each pool were confirmed, or will never be. */
  readonly startsOf = new Map<string, number>();
  nextInMs: number | null = null;
  isReady = true;

  put(count: number, kind: "start" | "stop", pool = "default"): void {
    for (let i = 0; i < count; i += 1)
      this.due.push({ id: `${kind} ${this.#ids++}`, kind, sentCount: 0, start: { pool } } as unknown as DueCommand);
  }

  claimDue: CommandStore["claimDue"] = async (limit, _holdMs, _stopPauses, fullPools = []) => {
    const isLeft = (command: DueCommand) => command.kind === "start" && fullPools.includes(String(command.start?.pool));
    const due = this.due.filter((command) => !isLeft(command)).slice(0, limit);
    const claimed = new Set(due);
    this.due = this.due.filter((command) => !claimed.has(command));
    for (const command of due) this.#claimed.set(command.id, command);
    this.claims.push(due.length);
    return { id: `claim-${this.claims.length}`, due };
  };

  async renew(): Promise<void> {}

  /** How many starts were claimed in vain. */
  givenBack = 0;

  settle: CommandStore["settle"] = async (_claim, settled) => {
    this.givenBack += settled.filter(({ keep }) => keep).length;
    this.due = [...settled.flatMap(({ id, keep }) => (keep ? (this.#claimed.get(id) as DueCommand) : [])), ...this.due];
  };

  async ready(): Promise<void> {}
  nextDueInMs = async (): Promise<number | null> => (this.due.length > 0 ? -1 : this.nextInMs);

  async send(due: DueCommand[]): Promise<SendOutcome[]> {
    this.sent.push(...due.map(({ kind }) => kind));
    for (const command of due)
      if (command.kind === "start") {
        const pool = String(command.start?.pool);
        this.startsOf.set(pool, (this.startsOf.get(pool) ?? 0) + 1);
      }
    const isConfirmed = ({ kind, ...rest }: DueCommand) =>
      kind !== "start" || ("start" in rest && rest.start?.pool === CONFIRMED);
    if (!due.every(isConfirmed)) await new Promise<void>((resolve) => this.confirms.push(resolve));
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

  it("sends a pool's starts while those of nine others, thousands each, wait for their confirms, in the same claims too", async () => {
    world = new World();
    for (let pool = 1; pool <= 9; pool += 1) world.put(3 * LIMIT, "start", `stuck-${pool}`);
    begin();
    await vi.waitFor(() => expect(world.startsOf.size).toBe(9), { timeout: 10_000 });
    for (let round = 1; round <= 3; round += 1) {
      world.put(LIMIT, "start", CONFIRMED);
      dispatcher.wake();
      await vi.waitFor(() => expect(world.startsOf.get(CONFIRMED)).toBe(round * LIMIT), { timeout: 10_000 });
    }
    const stuck = [...world.startsOf].flatMap(([pool, starts]) => (pool === CONFIRMED ? [] : starts));
    expect(stuck.reduce((sum, starts) => sum + starts)).toBeLessThan(9_000);
    expect(world.givenBack).toBeLessThan(2 * LIMIT);
  });

  it("counts and settles what is confirmed at once, though a start of another pool was claimed with it", async () => {
    world = new World();
    const settle = vi.spyOn(world, "settle");
    for (let i = 0; i < 5; i += 1) {
      world.put(1, "start", "stuck");
      world.put(LIMIT - 1, "start", CONFIRMED);
    }
    begin();
    await vi.waitFor(() => expect(world.startsOf.get(CONFIRMED)).toBe(5 * (LIMIT - 1)), { timeout: 10_000 });
    expect(world.startsOf.get("stuck")).toBe(5);
    await vi.waitFor(() => expect(settle.mock.calls.flatMap(([, settled]) => settled)).toHaveLength(5 * (LIMIT - 1)));
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
