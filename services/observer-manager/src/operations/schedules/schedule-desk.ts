import { isDeepStrictEqual } from "node:util";
import type {
  BackfillAnswer,
  BackfillSchedule,
  OccurrencePage,
  OccurrenceView,
  PutSchedule,
  RunSchedule,
  SchedulePage,
  ScheduleTimes,
  ScheduleView,
  TaskId,
} from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { type Definition, definitionFlaws, definitionOf } from "../../domain/schedules/definition.ts";
import { expressionOf, nextOf, timesAhead } from "../../domain/schedules/preview.ts";
import { UnreadableTiming } from "../../domain/schedules/unreadable-timing.ts";
import { newAction } from "../access/audit.ts";
import { encodeOccurrenceCursor, encodeScheduleCursor } from "../cursor.ts";
import { inSlices } from "../in-slices.ts";
import type { Refusal } from "../refusal.ts";
import { type CreationTypes, checkCreations } from "../tasks/creations/creation-check.ts";
import type { UnwantedSend } from "../tasks/unwanted-send.ts";
import { backfill, countsOf, isSameTiming, missedByChange, runNow } from "./asked.ts";
import { planFrom, taskAt } from "./firing.ts";
import type {
  Decided,
  OccurrenceQuery,
  Plan,
  ScheduleQuery,
  ScheduleState,
  ScheduleStore,
  ScheduleWork,
} from "./schedule-store.ts";
import type { ScheduleTools, TimesAsked } from "./schedule-tools.ts";

export interface ScheduleDeskParts {
  store: ScheduleStore;
  types: CreationTypes;
  /** Something may be due earlier. */
  wake(): void;
  /** Tasks were created. */
  wakeTasks(): void;
  cancelled(over: TaskId[], refuse: UnwantedSend[]): void;
}

const NOT_FOUND: Refusal = { kind: "problem", code: "schedule-not-found" };

export class ScheduleDesk implements ScheduleTools {
  readonly #parts: ScheduleDeskParts;

  constructor(parts: ScheduleDeskParts) {
    this.#parts = parts;
  }

  async putSchedule(id: string, body: PutSchedule, by: Actor): ReturnType<ScheduleTools["putSchedule"]> {
    const { store, types, wake } = this.#parts;
    const read = readDefinition(body);
    if ("code" in read) return read;
    // A schedule that is put once more changes nothing: a service that has its type may be away just then.
    if (read.kind === "task" && !(await this.#isThere(id, read))) {
      const [checked] = await checkCreations(types, [taskAt(read, 0)]);
      if (checked !== undefined && "kind" in checked) return atTask(checked);
    }
    const action = newAction("schedule.put", by);
    const put = await store.put(id, read, (before, nowMs) => planOfPut(id, read, before, nowMs), action);
    if (put.kind !== "exists") wake();
    return put;
  }

  async listSchedules(query: ScheduleQuery): Promise<SchedulePage> {
    const { last, ...page } = await this.#parts.store.list(query);
    return { ...page, nextCursor: last === undefined ? null : encodeScheduleCursor(last) };
  }

  findSchedule(id: string): Promise<ScheduleView | undefined> {
    return this.#parts.store.find(id);
  }

  async deleteSchedule(id: string, by: Actor): ReturnType<ScheduleTools["deleteSchedule"]> {
    const removed = await this.#parts.store.remove(id, newAction("schedule.delete", by));
    return removed ? { kind: "deleted" } : NOT_FOUND;
  }

  async pauseSchedule(id: string, by: Actor): Promise<ScheduleView | Refusal> {
    return (await this.#parts.store.pause(id, missedByChange, newAction("schedule.pause", by))) ?? NOT_FOUND;
  }

  async resumeSchedule(id: string, by: Actor): Promise<ScheduleView | Refusal> {
    const plan = (before: ScheduleState, nowMs: number): Plan => planAnew(id, before.definition, before, nowMs);
    const resumed = await readable(() => this.#parts.store.resume(id, plan, newAction("schedule.resume", by)));
    this.#parts.wake();
    return resumed ?? NOT_FOUND;
  }

  async runSchedule(id: string, asked: RunSchedule, by: Actor): Promise<OccurrenceView | Refusal> {
    const action = newAction("schedule.run", by, { ...asked });
    const work: ScheduleWork<{ atMs: number } | Refusal> = (state, nowMs, books) =>
      runNow(state, asked, by.name, nowMs, books);
    const done = await readable(() => this.#parts.store.change(id, work, action));
    if (done === undefined) return NOT_FOUND;
    if ("code" in done) return done;
    this.#told(done.decided);
    if ("code" in done.answer) return done.answer;
    return (await this.#parts.store.findOccurrence(id, done.answer.atMs)) ?? NOT_FOUND;
  }

  async backfillSchedule(id: string, asked: BackfillSchedule, by: Actor): Promise<BackfillAnswer | Refusal> {
    const action = newAction("schedule.backfill", by, { ...asked, dryRun: undefined });
    const work: ScheduleWork<BackfillAnswer | Refusal> = (state, nowMs, { existing }) =>
      backfill(state, asked, by.name, nowMs, existing);
    const done = await readable(() => this.#parts.store.change(id, work, action));
    if (done === undefined) return NOT_FOUND;
    if ("code" in done) return done;
    this.#told(done.decided);
    if ("code" in done.answer || asked.dryRun) return done.answer;
    // Only the transaction that writes it tells what its key keeps from starting.
    return { ...done.answer, ...countsOf(done.decided.occurrences) };
  }

  async listOccurrences(id: string, query: OccurrenceQuery): Promise<OccurrencePage | Refusal> {
    const page = await this.#parts.store.listOccurrences(id, query);
    if (page === undefined) return NOT_FOUND;
    const { lastMicros, ...rest } = page;
    return { ...rest, nextCursor: lastMicros === undefined ? null : encodeOccurrenceCursor(lastMicros) };
  }

  async nextTimes(id: string, asked: TimesAsked): Promise<ScheduleTimes | Refusal> {
    const read = await this.#parts.store.read(id);
    if (read === undefined) return NOT_FOUND;
    return readable(() => this.#times(read, id, asked));
  }

  async previewSchedule(
    body: PutSchedule,
    { id = "", ...asked }: TimesAsked & { id?: string | undefined },
  ): Promise<ScheduleTimes | Refusal> {
    const read = readDefinition(body);
    return "code" in read ? read : this.#times({ definition: read, version: null, nextMs: null, lastMs: null }, id, asked);
  }

  /** Without `from` these are the times from now on, as they will be decided about. */
  async #times(
    read: Pick<ScheduleState, "definition" | "nextMs" | "lastMs"> & { version: number | null },
    id: string,
    { n, from, to }: TimesAsked,
  ): Promise<ScheduleTimes> {
    const { definition, version, nextMs, lastMs } = read;
    const afterMs = from === undefined ? await this.#parts.store.nowMs() : Date.parse(from);
    const beforeMs = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
    const undecided = nextMs === null ? { nextMs: afterMs + 1, lastMs: afterMs } : { nextMs, lastMs };
    const stretch = { afterMs, beforeMs, undecided: from === undefined ? undecided : undefined };
    const times = await inSlices(timesAhead(definition, id, stretch), n);
    return { ...expressionOf(definition), version, times };
  }

  async #isThere(id: string, definition: Definition): Promise<boolean> {
    const there = await this.#parts.store.read(id);
    return isDeepStrictEqual(there?.definition, JSON.parse(JSON.stringify(definition)));
  }

  #told({ created, cancelled, over, refuse }: Decided): void {
    if (created > 0) this.#parts.wakeTasks();
    if (cancelled > 0) this.#parts.cancelled(over, refuse);
  }
}

/** The times of a schedule that is there may not be readable here. */
async function readable<Answer>(work: () => Promise<Answer>): Promise<Answer | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnreadableTiming)
      return { kind: "problem", code: "schedule-unreadable", detail: `This manager cannot read it: ${error.message}` };
    throw error;
  }
}

function readDefinition(body: PutSchedule): Definition | Refusal {
  const errors = definitionFlaws(body);
  return errors.length > 0 ? { kind: "problem", code: "invalid-body", errors } : definitionOf(body);
}

/** Puts what a look at the task found into the place of the task within the body. */
function atTask(refusal: Refusal): Refusal {
  const errors = refusal.errors?.map((error) =>
    "pointer" in error ? { ...error, pointer: `/task${error.pointer}` } : error,
  );
  return errors === undefined ? refusal : { ...refusal, errors };
}

function planOfPut(id: string, definition: Definition, before: ScheduleState | undefined, nowMs: number) {
  if (before === undefined) return planAnew(id, definition, undefined, nowMs);
  // Its times are as they were: what is due is due.
  if (isSameTiming(before.definition, definition) && before.nextMs !== null && definition.kind === "task")
    return planFrom(id, definition.timing.jitterMs, before.nextMs);
  const decision = missedByChange(before, nowMs);
  return { ...planAnew(id, definition, before, nowMs), ...(decision && { decision }) };
}

/** Plans from now on, and never back behind what was decided: the clock may have been set back. */
function planAnew(id: string, definition: Definition, before: ScheduleState | undefined, nowMs: number): Plan {
  const next = nextOf(definition, Math.max(nowMs, before?.lastMs ?? nowMs));
  if (definition.kind === "task") return planFrom(id, definition.timing.jitterMs, next);
  return { nextMs: next ?? null, dueMs: nowMs };
}
