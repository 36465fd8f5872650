import type { ServiceId, ServiceView } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { DrainState } from "../../domain/books/service-book.ts";
import { type Action, newAction } from "../access/audit.ts";
import { notKnownByAll } from "../features/not-known-by-all.ts";
import type { Refusal } from "../refusal.ts";

/** What a path takes: a name finds the living service of that name. */
export type ServiceRef = { kind: "id"; id: ServiceId } | { kind: "name"; name: string };

/** A boot of a service, as far as a decision needs it. */
export interface KnownService {
  id: ServiceId;
  features: string[];
  drain: DrainState;
  isLiving: boolean;
}

export type ServiceOrder = "drain" | "cordon" | "uncordon" | "reload";

export interface ServiceStore {
  /**
   * Locks, in one transaction with the action in the audit trail, the boots that the ref may mean (living ones first, two at most), and
   * marks the one that `choose` picks by what it is asked, with a command that is due at once.
   */
  ask(
    order: ServiceOrder,
    ref: ServiceRef,
    action: Action,
    choose: (boots: KnownService[]) => KnownService | Refusal,
  ): Promise<ServiceView | Refusal>;
}

export interface ServiceDeskParts {
  store: ServiceStore;
  isReady(): boolean;
  /** Whether all managers know what a cordon is. */
  mayCordon(): boolean;
  /** Whether all managers know what a service says of a reload. */
  mayReload(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
}

/**
 * What operators do about a service. An order is a command row that is sent again until the service has answered; where its
 * connection is replaced meanwhile, the ledger writes a new one. A crash before the commit leaves everything as it was.
 */
export class ServiceDesk {
  readonly #parts: ServiceDeskParts;

  constructor(parts: ServiceDeskParts) {
    this.#parts = parts;
  }

  /** Safe to repeat. Problems: service-not-found, service-ended, service-ambiguous, not-ready. */
  drainService(ref: ServiceRef, by: Actor): Promise<ServiceOutcome> {
    return this.#ask("drain", ref, by, chooseLiving);
  }

  /** Safe to repeat. Nothing changes for a service that drains. Problems: as of a drain, and service-too-old. */
  async cordonService(ref: ServiceRef, by: Actor): Promise<ServiceOutcome> {
    return this.#parts.mayCordon() ? this.#ask("cordon", ref, by, chooseThatBalances) : MAY_NOT_CORDON;
  }

  /** Takes back a cordon, or a drain. Safe to repeat. Problems: as of a cordon. */
  async uncordonService(ref: ServiceRef, by: Actor): Promise<ServiceOutcome> {
    return this.#parts.mayCordon() ? this.#ask("uncordon", ref, by, chooseThatBalances) : MAY_NOT_CORDON;
  }

  /** Asked twice it loads twice, the second time after the first. Problems: as of a cordon. */
  async reloadService(ref: ServiceRef, by: Actor): Promise<ServiceOutcome> {
    return this.#parts.mayReload() ? this.#ask("reload", ref, by, chooseThatReloads) : MAY_NOT_RELOAD;
  }

  async #ask(order: ServiceOrder, ref: ServiceRef, by: Actor, choose: Choose): Promise<ServiceOutcome> {
    const { store, isReady, committed } = this.#parts;
    if (!isReady()) return { kind: "problem", code: "not-ready" };
    const outcome = await store.ask(order, ref, newAction(`service.${order}`, by), choose);
    if ("kind" in outcome) return outcome;
    committed();
    return { kind: "accepted", service: outcome };
  }
}

/** What REST asks of services. */
export type ServiceTools = Pick<ServiceDesk, "drainService" | "cordonService" | "uncordonService" | "reloadService">;

type ServiceOutcome = { kind: "accepted"; service: ServiceView } | Refusal;
type Choose = (boots: KnownService[]) => KnownService | Refusal;

const MAY_NOT_CORDON = notKnownByAll("know a cordon");
const MAY_NOT_RELOAD = notKnownByAll("know a reload");

const CANNOT_RELOAD: Refusal = {
  kind: "problem",
  code: "service-too-old",
  detail:
    "It does not know this order, and goes on as it is. Its next process loads the folder as it is then. On its host, SIGHUP makes it load the folder again if its version knows that; a service of 0.1.0 ends by it",
};

function chooseThatReloads(boots: KnownService[]): KnownService | Refusal {
  const chosen = chooseLiving(boots);
  return "kind" in chosen || chosen.features.includes("reload") ? chosen : CANNOT_RELOAD;
}

function chooseThatBalances(boots: KnownService[]): KnownService | Refusal {
  const chosen = chooseLiving(boots);
  if ("kind" in chosen || chosen.features.includes("balance")) return chosen;
  return { kind: "problem", code: "service-too-old" };
}

/** Takes the boot of that name that lives; draining the wrong one of two would be a fault of its own. */
function chooseLiving(boots: KnownService[]): KnownService | Refusal {
  const [first, second] = boots;
  if (first === undefined) return { kind: "problem", code: "service-not-found" };
  if (!first.isLiving) return { kind: "problem", code: "service-ended" };
  if (second?.isLiving === true) return { kind: "problem", code: "service-ambiguous" };
  return first;
}
