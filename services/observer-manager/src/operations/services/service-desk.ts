import type { ServiceId, ServiceView } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { type Action, newAction } from "../access/audit.ts";
import type { Refusal } from "../refusal.ts";

/** What a path takes: a name finds the living service of that name. */
export type ServiceRef = { kind: "id"; id: ServiceId } | { kind: "name"; name: string };

/** A boot of a service, as far as a decision needs it. */
export interface KnownService {
  id: ServiceId;
  generation: number;
  isLiving: boolean;
}

export interface ServiceStore {
  /**
   * In one transaction, with the action in the audit trail: locks the boots that the ref may mean (living ones first, two at most), and marks the one that
   * `choose` picks as to be drained, with a command that is due at once.
   */
  askToDrain(
    ref: ServiceRef,
    action: Action,
    choose: (boots: KnownService[]) => KnownService | Refusal,
  ): Promise<ServiceView | Refusal>;
}

export interface ServiceDeskParts {
  store: ServiceStore;
  isReady(): boolean;
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
  async drainService(ref: ServiceRef, by: Actor): Promise<{ kind: "accepted"; service: ServiceView } | Refusal> {
    const { store, isReady, committed } = this.#parts;
    if (!isReady()) return { kind: "problem", code: "not-ready" };
    const outcome = await store.askToDrain(ref, newAction("service.drain", by), chooseLiving);
    if ("kind" in outcome) return outcome;
    committed();
    return { kind: "accepted", service: outcome };
  }
}

/** What REST asks of services. */
export type ServiceTools = Pick<ServiceDesk, "drainService">;

/** Of a name's boots the one that lives; draining the wrong one of two would be a fault of its own. */
function chooseLiving(boots: KnownService[]): KnownService | Refusal {
  const [first, second] = boots;
  if (first === undefined) return { kind: "problem", code: "service-not-found" };
  if (!first.isLiving) return { kind: "problem", code: "service-ended" };
  if (second?.isLiving === true) return { kind: "problem", code: "service-ambiguous" };
  return first;
}
