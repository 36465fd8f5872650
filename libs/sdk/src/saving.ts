import type { z } from "zod";
import { issuesIn, issuesText } from "./params.ts";
import { readText } from "./read-text.ts";
import { SdkError } from "./sdk-error.ts";

/** The most bytes that a checkpoint may have as JSON: 64 KiB. */
export const MAX_CHECKPOINT_BYTES = 65_536;

export interface SavingParts {
  readonly schema: z.ZodType;
  /** Takes a checkpoint, as JSON; resolves when the broker has confirmed it and the lease was held still. */
  save(json: string): Promise<void>;
  /** Between two of one run; milliseconds. */
  readonly everyMs: number;
  /** Settles when what was emitted until now, and since this was asked before, has; rejects if some of it was not confirmed. Undefined: nothing waits. */
  emitted(): Promise<void> | undefined;
}

/** Waits to be passed on; a later one takes its place, and whoever waited for it waits for that. */
class Next {
  json = "";
  emitted: Promise<void> | undefined;
  /** Of all who wait for it: a broker that takes nothing would else make it as many as there are calls. */
  readonly stored: Promise<void>;
  resolve: () => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.stored = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  }
}

/**
 * The checkpoints of one attempt. One is under way at a time, the latest waits; each is passed on only behind the confirms of what
 * was emitted before it and is still open. What was rejected before is the author's to mind: who saves on covers what nobody was told.
 */
export class Saving {
  readonly #parts: SavingParts;
  #next: Next | undefined;
  /** Resolves when the one that is under way has been passed on, or given up. */
  #passed: Promise<void> = Promise.resolve();
  #isUnderWay = false;
  /** What the one that is under way still waits for. */
  #behind: Promise<void> | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isHurried = false;
  #over: Error | undefined;

  constructor(parts: SavingParts) {
    this.#parts = parts;
  }

  /** The same for all who wait together. Throws what is wrong with the value, or why nothing is saved any more. */
  save(value: unknown): Promise<void> {
    if (this.#over !== undefined) throw this.#over;
    const json = checkpointJson(this.#parts.schema, value);
    const next = this.#next ?? new Next();
    next.json = json;
    next.emitted ??= this.#behind;
    const fresh = this.#parts.emitted();
    if (fresh !== undefined) {
      next.emitted = next.emitted === undefined ? fresh : allConfirmed([next.emitted, fresh]);
      next.emitted.catch(() => undefined); // told when its turn comes
    }
    this.#next = next;
    this.#pump();
    return next.stored;
  }

  /** Its run is to end: what waits does not wait for its time any more. */
  hurry(): void {
    this.#isHurried = true;
    this.#pump();
  }

  /** Nothing more comes. Resolves when what waits has been passed on; whether it is confirmed is told by itself. */
  async flush(over: Error): Promise<void> {
    this.#over ??= over;
    clearTimeout(this.#timer);
    await this.#passed;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) await this.#pass(next);
  }

  /** Nothing is saved any more. */
  stop(reason: Error): void {
    this.#over = reason;
    clearTimeout(this.#timer);
    this.#next?.reject(reason);
    this.#next = undefined;
  }

  #pump(): void {
    if (this.#isUnderWay || this.#next === undefined) return;
    clearTimeout(this.#timer);
    const leftMs = this.#isHurried ? 0 : this.#lastMs + this.#parts.everyMs - performance.now();
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#pump(), leftMs);
      return;
    }
    const next = this.#next;
    this.#next = undefined;
    this.#passed = this.#pass(next);
  }

  /** Resolves when it is on its way, or given up. */
  async #pass({ json, emitted, resolve, reject }: Next): Promise<void> {
    this.#isUnderWay = true;
    const settled = (settle: () => void): void => {
      settle();
      this.#isUnderWay = false;
      if (this.#over === undefined) this.#pump();
    };
    this.#behind = emitted;
    try {
      await emitted;
    } catch (error) {
      return settled(() => reject(error));
    } finally {
      this.#behind = undefined;
    }
    this.#lastMs = performance.now();
    this.#parts.save(json).then(
      () => settled(resolve),
      (error: unknown) => settled(() => reject(error)),
    );
  }
}

/** Settles when all have; rejects as the first of them that did. */
export async function allConfirmed(all: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(all)).find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/**
 * What is stored of a value. Throws `invalid-checkpoint` or `checkpoint-too-large`. Checked as JSON brings it, too: the next run could not start
 * with a Date that its schema takes as a Date alone, and nobody would know before.
 */
export function checkpointJson(schema: z.ZodType, value: unknown): string {
  const checked = lookedAt(() => schema.safeParse(value));
  if (!checked.success)
    throw new SdkError("invalid-checkpoint", `the checkpoint does not fit its schema: ${textOf(checked.error)}`);
  const json = lookedAt(() => JSON.stringify(value) as string | undefined);
  if (json === undefined) throw new SdkError("invalid-checkpoint", `a checkpoint of type ${typeof value} has no JSON`);
  const asGiven = lookedAt(() => schema.safeParse(JSON.parse(json)));
  if (!asGiven.success)
    throw new SdkError(
      "invalid-checkpoint",
      `the checkpoint does not fit its schema any more when it has been JSON, as which the next run is given it: ${textOf(asGiven.error)}`,
    );
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_CHECKPOINT_BYTES)
    throw new SdkError(
      "checkpoint-too-large",
      `a checkpoint has at most ${MAX_CHECKPOINT_BYTES} bytes as JSON, this one has ${bytes}`,
    );
  return json;
}

/** What JSON cannot say throws, as does a schema that asks others (`async`), or throws itself. */
function lookedAt<Seen>(look: () => Seen): Seen {
  try {
    return look();
  } catch (cause) {
    throw new SdkError(
      "invalid-checkpoint",
      `the checkpoint cannot be checked or written as JSON: ${readText(() => cause)}`,
      {
        cause,
      },
    );
  }
}

const textOf = (error: z.ZodError): string => issuesText(issuesIn(error, "field"), "checkpoint");

/** What a run is given of what was stored: parsed, or `undefined` where nothing was. Throws `invalid-checkpoint`. */
export function readCheckpoint(schema: z.ZodType, json: string | undefined): unknown {
  if (json === undefined) return undefined;
  const checked = schema.safeParse(JSON.parse(json));
  if (checked.success) return checked.data;
  throw new SdkError(
    "invalid-checkpoint",
    `the checkpoint that it is to start with does not fit its type's schema any more, reset it or set another: ${textOf(checked.error)}`,
  );
}
