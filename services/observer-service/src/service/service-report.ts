import { hostname } from "node:os";
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { LossReason } from "@unacked/broker";
import {
  type BrokenFile,
  type BrokerLoss,
  MAX_BROKEN_FILES,
  MAX_SLOT_REPORTS,
  type ObserverTypeInfo,
  SERVICE_FEATURES,
  type ServiceAlive,
  type ServiceBorn,
} from "@unacked/contracts";
import { sendableText } from "../error-text.ts";
import type { ServiceIdentity } from "../keeper/identity.ts";
import type { SlotsView } from "../keeper/slots/slot-history.ts";

export const ALIVE_INTERVAL_MS = 5_000;

export interface Introduction {
  readonly identity: ServiceIdentity;
  readonly types: readonly ObserverTypeInfo[];
  readonly brokenFiles: readonly BrokenFile[];
  readonly version: string;
  readonly heartbeatMs: number;
  readonly draining: boolean;
  readonly cordoned: boolean;
  readonly lastLoss: LossReason | undefined;
}

export function serviceBorn(introduction: Introduction): ServiceBorn {
  const { identity, types, brokenFiles, version, heartbeatMs, draining, cordoned, lastLoss } = introduction;
  const { pool, workerCount } = identity;
  return {
    kind: "ServiceBorn",
    at: Date.now(),
    pool,
    workerCount,
    types: [...types],
    version,
    host: hostname().slice(0, 255),
    pid: process.pid,
    heartbeatMs,
    draining,
    ...(cordoned && { cordoned }),
    features: [...SERVICE_FEATURES],
    ...(brokenFiles.length > 0 && { brokenFiles: brokenFiles.slice(0, MAX_BROKEN_FILES) }),
    ...(lastLoss?.remedy !== undefined && { brokerLoss: brokerLoss(lastLoss.kind, lastLoss.detail, lastLoss.remedy) }),
  };
}

const brokerLoss = (kind: string, detail: string, remedy: string): BrokerLoss => ({
  kind,
  detail: sendableText(detail, 2_000),
  remedy: sendableText(remedy, 2_000),
});

/**
 * How far the event loop lags: the worst since the last call, in ms; it may miss up to a tenth of a second. A timer measures it at this
 * pace: at 20 ms an idle service spent half a percent of a core on it, at 100 ms a tenth of a percent.
 */
export class EventLoopLag {
  readonly #resolutionMs = 100;
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: this.#resolutionMs });

  constructor() {
    this.#histogram.enable();
  }

  takeWorstMs(): number {
    const worstMs = this.#histogram.max / 1e6 - this.#resolutionMs;
    this.#histogram.reset();
    return Number.isFinite(worstMs) ? Math.max(0, Math.round(worstMs * 10) / 10) : 0;
  }
}

export function serviceAlive(
  now: Pick<
    ServiceAlive,
    "workerCount" | "running" | "eventLoopLagMs" | "draining" | "cordoned" | "consuming" | "notConsuming" | "emits"
  >,
  handlers: Pick<SlotsView, "slots" | "history">,
): ServiceAlive {
  const slots = handlers.slots();
  const slotBytes = slots.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  const ofSlots = {
    slots: slots.slice(0, MAX_SLOT_REPORTS),
    slotDeaths: handlers.history.last(),
    slotDeathsLately: handlers.history.lately(),
  };
  return {
    kind: "ServiceAlive",
    at: Date.now(),
    ...now,
    memoryBytes: process.memoryUsage.rss() + slotBytes,
    ...(slots.length > 0 && ofSlots),
  };
}
