import { isDeepStrictEqual } from "node:util";
import { MAX_UPDATE_REASON, type RunUpdated, type ServiceEvent, type UpdateRuns } from "@unacked/contracts";
import { sendableText } from "../../error-text.ts";
import type { UpdateWord } from "../../wire/attempt.ts";
import type { LiveRun } from "./live-run.ts";

type Spec = UpdateRuns["targets"][number]["spec"];

export interface UpdatesParts {
  readonly events: { tell(event: ServiceEvent): void };
  /** How long a handler may take to decide; milliseconds. */
  readonly limitMs: number;
  /** Begins the run again in place. */
  restart(run: LiveRun): void;
  /** Ends the wait for its next attempt. */
  retryNow(run: LiveRun): void;
}

interface Asked {
  readonly spec: Spec;
  readonly timer: NodeJS.Timeout;
  /** A spec that came meanwhile. */
  next?: Spec;
}

/**
 * Receives new specs for runs, in any order, again and again. Guarantees: the newest counts; each is answered, unless its run ends; one
 * answer of a handler is awaited at a time, and not for ever. Retry and silence are the keeper's own and apply at once; params need the
 * handler's answer (docs/decisions/0022-hot-update.md). A crash forgets it all: the next run is admitted with the new spec.
 */
export class Updates {
  readonly #parts: UpdatesParts;
  readonly #asked = new Map<LiveRun, Asked>();
  readonly #rejections = new WeakMap<LiveRun, { specVersion: number; reason: string; params: unknown }>();

  constructor(parts: UpdatesParts) {
    this.#parts = parts;
  }

  take(run: LiveRun, spec: Spec): void {
    const asked = this.#asked.get(run);
    if (asked !== undefined) {
      if (spec.specVersion > (asked.next ?? asked.spec).specVersion) asked.next = spec;
      return;
    }
    const { specVersion = 0 } = run.start;
    if (specVersion >= spec.specVersion) return this.#tell(run, { specVersion, outcome: "applied" });
    const rejection = this.#rejections.get(run);
    if (rejection !== undefined && rejection.specVersion >= spec.specVersion) {
      const { params, ...told } = rejection;
      // After a restore of the database another change may have the version that was rejected.
      if (isDeepStrictEqual(params, spec.params))
        return this.#tell(run, { ...told, outcome: "rejected", keeps: keptBy(run) });
    }
    const { phase } = run.state;
    if (phase === "running") return this.#ask(run, spec);
    // Runs that end or report answer by their end.
    if (phase !== "waiting" && phase !== "requested" && phase !== "backing-off") return;
    const isOther = !isDeepStrictEqual(run.start.params, spec.params);
    this.#apply(run, spec);
    if (phase === "backing-off" && isOther) this.#parts.retryNow(run);
  }

  /** The handler's answer. A late one is ignored. */
  answered(run: LiveRun, { specVersion, outcome, reason }: UpdateWord): void {
    const asked = this.#asked.get(run);
    if (asked?.spec.specVersion !== specVersion) return;
    const { spec, next } = this.#forget(run, asked);
    switch (outcome) {
      case "applied":
        this.#apply(run, spec);
        break;
      case "restart":
        return this.#restart(run, next ?? spec, reason);
      case "rejected":
        this.#reject(run, spec, reason);
        break;
      default:
        outcome satisfies never;
    }
    if (next !== undefined) this.take(run, next);
  }

  /** Its handler is over, or told to end. @param goesOn another follows, of this run or in its place, and has what is wanted */
  left(run: LiveRun, goesOn: boolean): void {
    const asked = this.#asked.get(run);
    if (asked === undefined) return;
    const { spec, next = spec } = this.#forget(run, asked);
    if (!goesOn) return;
    adopt(run, next);
    const { specVersion } = next;
    this.#tell(run, { specVersion, outcome: "restart", reason: "its handler ended before it had answered" });
  }

  #ask(run: LiveRun, spec: Spec): void {
    const { specVersion, silence, params } = spec;
    const isSame = isDeepStrictEqual(run.start.params, params);
    if (isSame) this.#apply(run, spec);
    else {
      adopt(run, { ...spec, ...keptBy(run) });
      const timer = setTimeout(() => this.#giveUp(run), this.#parts.limitMs);
      this.#asked.set(run, { spec, timer });
    }
    run.attempt?.update?.({ specVersion, silence, ...(!isSame && { params: { value: params } }) });
  }

  #giveUp(run: LiveRun): void {
    const asked = this.#asked.get(run);
    if (asked === undefined) return;
    const { spec, next = spec } = this.#forget(run, asked);
    this.#restart(run, next, `onUpdate has not answered for ${this.#parts.limitMs} ms`);
  }

  #forget(run: LiveRun, asked: Asked): Asked {
    clearTimeout(asked.timer);
    this.#asked.delete(run);
    return asked;
  }

  #apply(run: LiveRun, spec: Spec): void {
    adopt(run, spec);
    run.log.info({ event: "run-updated", specVersion: spec.specVersion }, "the run goes on as it is wanted now");
    this.#tell(run, { specVersion: spec.specVersion, outcome: "applied" });
  }

  #restart(run: LiveRun, spec: Spec, reason: string | undefined): void {
    adopt(run, spec);
    const { specVersion } = spec;
    run.log.info({ event: "run-updated", specVersion, reason }, "the run begins again, as it is wanted now");
    this.#tell(run, { specVersion, outcome: "restart", ...(reason !== undefined && { reason }) });
    this.#parts.restart(run);
  }

  #reject(run: LiveRun, { specVersion, params }: Spec, why: string | undefined): void {
    const reason = sendableText(why ?? "its type does not say why", MAX_UPDATE_REASON);
    this.#rejections.set(run, { specVersion, reason, params });
    run.log.warn(
      { event: "update-rejected", specVersion, reason },
      "the handler rejected the change: it keeps running as before",
    );
    this.#tell(run, { specVersion, outcome: "rejected", reason, keeps: keptBy(run) });
  }

  #tell({ runId, start }: LiveRun, word: Pick<RunUpdated, "specVersion" | "outcome" | "reason" | "keeps">): void {
    const { observerId, messageId, revision } = start;
    this.#parts.events.tell({ kind: "RunUpdated", observerId, runId, messageId, revision, at: Date.now(), ...word });
  }
}

const adopt = (run: LiveRun, spec: Spec): void => {
  run.start = { ...run.start, ...spec };
};

/** The params that its handler runs with. */
const keptBy = ({
  start: { params, specVersion = 1 },
}: LiveRun): NonNullable<RunUpdated["keeps"]> & { params: unknown } => ({
  params,
  specVersion,
});
