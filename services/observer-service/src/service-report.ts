import { hostname } from "node:os";
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { LossReason } from "@unacked/broker";
import type { BrokerLoss, ObserverTypeInfo, ServiceAlive, ServiceBorn } from "@unacked/contracts";
import { paramsJsonSchema } from "@unacked/sdk";
import { sendableText } from "./error-text.ts";
import type { ServiceIdentity } from "./identity.ts";
import type { ObserverTypes } from "./load-observers.ts";
import type { Log } from "./log.ts";

export const ALIVE_INTERVAL_MS = 5_000;

export interface Introduction {
  readonly identity: ServiceIdentity;
  readonly types: readonly ObserverTypeInfo[];
  readonly version: string;
  readonly heartbeatMs: number;
  readonly draining: boolean;
  readonly lastLoss: LossReason | undefined;
}

export function serviceBorn(introduction: Introduction): ServiceBorn {
  const { identity, types, version, heartbeatMs, draining, lastLoss } = introduction;
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
    ...(lastLoss?.remedy !== undefined && { brokerLoss: brokerLoss(lastLoss.kind, lastLoss.detail, lastLoss.remedy) }),
  };
}

const brokerLoss = (kind: string, detail: string, remedy: string): BrokerLoss => ({
  kind,
  detail: sendableText(detail, 2_000),
  remedy: sendableText(remedy, 2_000),
});

/** The types as they are announced. A schema that has no JSON form is announced as one that accepts everything. */
export function describeTypes(types: ObserverTypes, log: Log): ObserverTypeInfo[] {
  return [...types.values()].map((definition) => {
    const { schema, reason } = paramsJsonSchema(definition);
    if (reason !== undefined)
      log.warn({ event: "no-json-schema", type: definition.type, reason }, "the params of a type cannot be announced");
    return { type: definition.type, description: sendableText(definition.description ?? "", 1_000), paramsSchema: schema };
  });
}

/** How far the event loop lags, the worst since it was last asked, in ms. */
export class EventLoopLag {
  readonly #resolutionMs = 20;
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
  now: Pick<ServiceAlive, "workerCount" | "running" | "eventLoopLagMs" | "draining">,
): ServiceAlive {
  return { kind: "ServiceAlive", at: Date.now(), ...now, memoryBytes: process.memoryUsage.rss() };
}
