import { newMessageId, newRunId, newServiceId, type SpecField, traitsOf } from "@unacked/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObserverBook } from "../../../services/observer-manager/src/domain/books/observer-book.ts";
import { applyInput } from "../../../services/observer-manager/src/domain/observers/observer-input.ts";
import { inputOf, raiseSpecVersion } from "../../../services/observer-manager/src/domain/observers/spec-change.ts";
import { ask } from "../../../services/observer-manager/src/operations/observers/observer-change.ts";
import { ROOM_FOR_ALL } from "../../../services/observer-manager/src/operations/observers/room.ts";
import { failed, type RunIdentity, released, Scene, started, stopped } from "./books-fixture.ts";

/** A message of the observer, wherever it is. */
interface Message {
  messageId: RunIdentity["messageId"];
  revision: number;
  specVersion: number;
  /** The service that runs it, and its run; null: it is in the queue. */
  held: { by: number; runId: RunIdentity["runId"] } | null;
}

const SERVICES = [newServiceId(), newServiceId()] as const;

const FIELDS = {
  update: ["params"],
  "hot-update": ["params"],
  label: ["labels"],
  silence: ["silence"],
} satisfies Record<string, SpecField[]>;

/** What a client does, or what happens: each may be impossible just then, and is passed over. */
const STEPS = [
  "pause",
  "resume",
  "update",
  "label",
  "silence",
  "hot-update",
  "delete",
  "restart",
  "send-start",
  "send-stop",
  "send-word",
  "send-word-rejected",
  "take-0",
  "take-1",
  "lose",
  "fail",
  "read",
] as const;
type Step = (typeof STEPS)[number];

/**
 * One observer in a world of one queue, two services and a state queue, where everything can be late and nothing is lost: what is told is
 * told in order, and a message is acked with the word that says so. The books are the manager's own.
 */
class World {
  readonly scene = new Scene();
  readonly observer: ObserverBook;
  readonly messages: Message[] = [];
  /** What services have said, and the books have not read. */
  readonly #told: (() => void)[] = [];
  /** By service: the highest revision that it was told to stop. */
  readonly #graves: number[] = [0, 0];
  /** The versions that a handler was started with, in order. */
  readonly ran: number[] = [];

  constructor() {
    this.observer = this.scene.observer();
    this.scene.books.want({ kind: "start", observerId: this.observer.id, revision: 1, delayMs: 0 });
    for (const [i, service] of SERVICES.entries()) {
      this.scene.say(service, []);
      // The other is of a version before.
      Object.assign(this.scene.books.services.get(service) ?? {}, { features: i === 0 ? ["hot-update"] : [] });
    }
  }

  do(step: Step): void {
    switch (step) {
      case "pause":
      case "resume":
      case "delete":
      case "restart":
        ask(this.scene.books, this.observer, step, ROOM_FOR_ALL);
        return;
      case "update":
      case "label":
      case "silence":
      case "hot-update":
        return this.#change(step);
      case "send-start":
        return this.#sendStart();
      case "send-stop":
        return this.#sendStop();
      case "send-word":
        return this.#sendWord("applied");
      case "send-word-rejected":
        return this.#sendWord("rejected");
      case "take-0":
      case "take-1":
        return this.#take(step === "take-0" ? 0 : 1);
      case "lose":
        return this.#lose();
      case "fail":
        return this.#fail();
      case "read":
        return this.#told.shift()?.();
      default:
        return step satisfies never;
    }
  }

  /** Until nothing is left to happen. */
  settle(): void {
    for (let turn = 0; turn < 100; turn += 1)
      for (const step of ["send-stop", "send-start", "send-word", "take-0", "read"] as const) this.do(step);
  }

  #change(step: "update" | "label" | "silence" | "hot-update"): void {
    const { observer, scene } = this;
    if (["OnDeleting", "Deleted"].includes(observer.status)) return;
    const run = observer.currentRunId === null ? undefined : scene.books.runs.get(observer.currentRunId);
    const fields = FIELDS[step];
    const knows = run && {
      word: run.serviceId === SERVICES[0],
      onUpdate: run.serviceId === SERVICES[0] && step === "hot-update",
    };
    const input = inputOf(fields, knows);
    raiseSpecVersion(observer, { run, fields: [...fields], pool: observer.pool, hasMessage: true });
    if (input !== undefined) applyInput(scene.books, observer, input, run);
  }

  #wanted(kind: "start" | "stop") {
    return this.scene.wanted.find((one) => one.kind === kind) as { revision: number } | undefined;
  }

  /** As the dispatcher and the run: what is stopped is told nothing; the rest says what it makes of it. */
  #sendWord(outcome: "applied" | "rejected"): void {
    const order = this.scene.wanted.find((one) => one.kind === "update-run");
    const { pending, status, specVersion } = this.observer;
    if (order?.kind !== "update-run" || pending !== null || status === "OnDeleting") return;
    const message = this.messages.find(({ held }) => held?.runId === order.runId);
    if (message === undefined) return;
    const before = message.specVersion;
    const keeps = { keeps: { params: null, specVersion: before } };
    const word = { ...this.#runOf(message), at: 1, specVersion, outcome, ...(outcome === "rejected" && keeps) };
    if (outcome === "applied") this.ran.push(specVersion);
    if (outcome === "applied") message.held = { by: 0, runId: order.runId };
    this.#tell(0, { kind: "RunUpdated", ...word });
  }

  /** As the dispatcher: what is not wanted any more is not sent, and what is sent is forgotten. */
  #sendStart(): void {
    const start = this.#wanted("start");
    if (start === undefined) return;
    const { id, revision, specVersion, status } = this.observer;
    this.scene.books.forget({ kind: "start", observerId: id });
    if (status === "Created" && start.revision === revision)
      this.messages.push({ messageId: newMessageId(), revision, specVersion, held: null });
  }

  /** Heard by both; it stays wanted until the books have the answer. */
  #sendStop(): void {
    const stop = this.#wanted("stop");
    if (stop === undefined) return;
    for (const by of [0, 1]) this.#graves[by] = Math.max(this.#graves[by] ?? 0, stop.revision);
    for (const message of this.messages.filter(({ held }) => held !== null))
      if (message.revision <= stop.revision) this.#end(message, (run) => stopped(run));
  }

  #take(by: number): void {
    const message = this.messages.find(({ held }) => held === null);
    if (message === undefined) return;
    const { id: observerId } = this.observer;
    const { messageId, revision, specVersion } = message;
    if (revision <= (this.#graves[by] ?? 0)) {
      this.messages.splice(this.messages.indexOf(message), 1);
      this.#tell(by, { kind: "StartRefused", observerId, messageId, revision, at: 1, reason: "stopped" });
      return;
    }
    message.held = { by, runId: newRunId() };
    this.ran.push(specVersion);
    this.#tell(by, { ...started(this.#runOf(message)), specVersion } as ReturnType<typeof started>);
  }

  /** Its service lets go of it: the broker gives it to somebody again. */
  #lose(): void {
    const message = this.messages.find(({ held }) => held !== null);
    if (message?.held == null) return;
    this.#tell(message.held.by, released(this.#runOf(message)));
    message.held = null;
  }

  #fail(): void {
    const message = this.messages.find(({ held }) => held !== null);
    if (message !== undefined) this.#end(message, (run) => failed(run));
  }

  #end(message: Message, word: (run: RunIdentity) => ReturnType<typeof stopped>): void {
    if (message.held === null) return;
    this.#tell(message.held.by, word(this.#runOf(message)));
    this.messages.splice(this.messages.indexOf(message), 1);
  }

  #runOf({ messageId, revision, held }: Message): RunIdentity {
    if (held === null) throw new Error("nobody runs it");
    return { observerId: this.observer.id, runId: held.runId, messageId, revision };
  }

  #tell(by: number, event: ReturnType<typeof started>): void {
    this.#told.push(() => void this.scene.say(SERVICES[by] as (typeof SERVICES)[number], [event]));
  }
}

describe("whatever clients ask of an observer, at whatever moment", () => {
  const story = fc.array(fc.constantFrom(...STEPS), { maxLength: 60 });

  it("there is one message of it at most, so that it never runs twice", () => {
    fc.assert(
      fc.property(story, (steps) => {
        const world = new World();
        for (const step of steps) {
          world.do(step);
          expect(world.messages.length, step).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("once all is calm it is as the books say, and runs by what was wanted last", { timeout: 240_000 }, () => {
    fc.assert(
      fc.property(story, (steps) => {
        const world = new World();
        for (const step of steps) world.do(step);
        world.settle();
        const { observer, messages } = world;
        expect([observer.pending, world.scene.wanted.filter(({ kind }) => kind === "stop")]).toEqual([null, []]);
        const { run } = traitsOf(observer.status);
        expect(["current", "on-hold", "none"], observer.status).toContain(run);
        expect(messages.map(({ held, revision }) => [held === null, revision])).toEqual(
          run === "current" ? [[false, observer.revision]] : [],
        );
        const isRejected =
          observer.rejectedUpdate !== null && observer.rejectedUpdate.specVersion >= observer.neededSpecVersion;
        if (run === "current" && !isRejected) expect(world.ran.at(-1)).toBeGreaterThanOrEqual(observer.neededSpecVersion);
      }),
      { numRuns: 2_000 },
    );
  });
});
