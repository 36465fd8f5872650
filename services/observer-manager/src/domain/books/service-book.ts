import type {
  BrokenFile,
  BrokerLoss,
  InventoryProof,
  ObserverTypeInfo,
  ReloadEnded,
  ServiceAlive,
  ServiceId,
  ServiceState,
  SlotDeath,
  SlotReport,
} from "@unacked/contracts";
import type { Command } from "./command.ts";

/**
 * asked: a client wants a drain, and the service has not answered · begun: it says itself that it drains · cordon-asked, cordoned: the
 * same of a cordon · lift-asked: it is to take work again, and has not said that it does. Of one boot.
 */
export type DrainState = "none" | "asked" | "begun" | "cordon-asked" | "cordoned" | "lift-asked";

/** What is sent until the service has answered. */
export const ORDER_OF = { asked: "drain", "cordon-asked": "cordon", "lift-asked": "uncordon" } as const satisfies Partial<
  Record<DrainState, Command["kind"]>
>;

/** What a service said of a load of its folder that it was asked for. `at`: by its own clock. */
export type ReloadAnswer = Omit<ReloadEnded, "kind" | "reloadId">;

/** What a service said last of its slots. */
export interface SlotsBook {
  slots: SlotReport[];
  /** The newest first. */
  slotDeaths: SlotDeath[];
  /** How many in the last 10 minutes ended by what nobody wanted. */
  slotDeathsLately: number;
}

/** What a service said last of its intake. */
export interface IntakeBook {
  /** Why it takes no observers for now, for want of memory; null: it does, or that is not why. */
  notConsuming: string | null;
}

/** The part of a service's row that decisions need, and what it tells of itself. */
export interface ServiceBook extends SlotsBook, IntakeBook {
  /** How many it has emitted since its boot, by type, as it told last; null: it has not told these books. */
  emits: Readonly<Record<string, number>> | null;
  readonly id: ServiceId;
  readonly name: string;
  pool: string;
  state: ServiceState;
  drain: DrainState;
  generation: number;
  lastSeq: number;
  workerCount: number;
  running: number;
  /** The types as the batch that is read now announces them; absent: it says nothing of them, and those in the books hold. */
  types?: ObserverTypeInfo[];
  version: string;
  host: string;
  pid: number;
  heartbeatMs: number;
  /** What it announced that it can do. */
  features: string[];
  brokenFiles: BrokenFile[];
  memoryBytes: number;
  eventLoopLagMs: number;
  endReason: string | null;
  brokerLoss: BrokerLoss | null;
  /** The load of its folder that was asked for last; null: none was. */
  readonly reloadId: string | null;
  /** What became of that one; null: it has not told. */
  reloadAnswer: ReloadAnswer | null;
  /** Its whole inventory was read just now. */
  gaveInventory?: boolean;
  /** What the inventory that was read just now answered. */
  answered?: InventoryProof;
}

/** What a service says of its slots. One that has none, or is of an older version, says nothing. */
export function slotsOf({ slots = [], slotDeaths = [], slotDeathsLately = 0 }: ServiceAlive): SlotsBook {
  return { slots, slotDeaths, slotDeathsLately };
}

/** A service of an older version says nothing of this: it takes observers. */
export function intakeOf({ consuming = true, notConsuming }: ServiceAlive): IntakeBook {
  return { notConsuming: consuming ? null : (notConsuming ?? null) };
}
