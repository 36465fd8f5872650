import type { Isolation } from "@unacked/sdk";
import type { HandledRun } from "../../runs/handlers.ts";
import type { Blame } from "../blame/blame.ts";
import type { HarmfulTypes } from "../blame/harmful-types.ts";
import type { OwnPurpose } from "../slot.ts";

/** What is known of a run before it has a slot. */
export type StartedAs = Pick<HandledRun["start"], "observerId" | "type">;

/**
 * Which runs need a slot that is not everybody's: suspects, guilty ones, those of a type that asks for it, and tasks of a harmful type.
 */
export class SlotNeeds {
  readonly #blame: Pick<Blame, "apartOf">;
  readonly #harmful: Pick<HarmfulTypes, "has">;
  /** By type, what it asks for. */
  readonly #isolation = new Map<string, Isolation>();

  constructor(blame: Pick<Blame, "apartOf">, harmful: Pick<HarmfulTypes, "has">) {
    this.#blame = blame;
    this.#harmful = harmful;
  }

  /** Takes the types' wishes for slots of their own. */
  isolate(wishes: readonly ({ type: string } & Isolation)[]): void {
    this.#isolation.clear();
    for (const { type, ...wish } of wishes) this.#isolation.set(type, wish);
  }

  /** Undefined means that it runs among all others. */
  of({ observerId, type }: StartedAs): OwnPurpose | undefined {
    const own = this.ofType(type);
    const memoryBytes = own?.memoryBytes;
    const apart = this.#blame.apartOf(observerId);
    if (apart === undefined) return own;
    return apart.kind === "alone" ? { ...apart, type, memoryBytes } : { ...apart, memoryBytes };
  }

  ofType(type: string): (OwnPurpose & { kind: "own" }) | undefined {
    if (!this.asksForOwn(type) && !this.#harmful.has(type)) return undefined;
    const { memoryMb } = this.#isolation.get(type) ?? {};
    return { kind: "own", type, memoryBytes: memoryMb === undefined ? undefined : memoryMb * 2 ** 20 };
  }

  /** Whether the type itself asks for slots of its own; for a harmful one we do. */
  asksForOwn(type: string): boolean {
    const { runsPerSlot, memoryMb } = this.#isolation.get(type) ?? {};
    return runsPerSlot !== undefined || memoryMb !== undefined;
  }

  /** Whether who needs this waits for it. Suspects do not, as most of them are innocent; nor do tasks of a harmful type. */
  mayWait(purpose: OwnPurpose): boolean {
    return purpose.kind === "alone" || (purpose.kind === "own" && this.asksForOwn(purpose.type));
  }

  /** How many runs of the type may be in one slot of its own. */
  runsPerSlot(type: string): number {
    return this.#isolation.get(type)?.runsPerSlot ?? Number.POSITIVE_INFINITY;
  }
}
