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
} from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { Refusal } from "../refusal.ts";
import type { OccurrenceQuery, ScheduleQuery } from "./schedule-store.ts";

/** Which of the times that come. ISO 8601. */
export interface TimesAsked {
  n: number;
  from?: string | undefined;
  to?: string | undefined;
}

/** What REST asks of schedules. Each answer is given after the commit, and who did it stands in the audit trail by the same transaction. */
export interface ScheduleTools {
  /** Problems: invalid-body (+ errors), unknown-type (+ knownTypes). */
  putSchedule(
    id: string,
    body: PutSchedule,
    by: Actor,
  ): Promise<{ kind: "created" | "exists" | "replaced"; schedule: ScheduleView } | Refusal>;
  listSchedules(query: ScheduleQuery): Promise<SchedulePage>;
  findSchedule(id: string): Promise<ScheduleView | undefined>;
  /** Problems, of these and of all below: schedule-not-found. */
  deleteSchedule(id: string, by: Actor): Promise<{ kind: "deleted" } | Refusal>;
  /** Safe to repeat. */
  pauseSchedule(id: string, by: Actor): Promise<ScheduleView | Refusal>;
  resumeSchedule(id: string, by: Actor): Promise<ScheduleView | Refusal>;
  /** It also has the problem schedule-without-task. */
  runSchedule(id: string, asked: RunSchedule, by: Actor): Promise<OccurrenceView | Refusal>;
  /** It also has the problems schedule-without-task, and invalid-body (+ errors). */
  backfillSchedule(id: string, asked: BackfillSchedule, by: Actor): Promise<BackfillAnswer | Refusal>;
  listOccurrences(id: string, query: OccurrenceQuery): Promise<OccurrencePage | Refusal>;
  nextTimes(id: string, asked: TimesAsked): Promise<ScheduleTimes | Refusal>;
  /** Problems: invalid-body (+ errors). */
  previewSchedule(body: PutSchedule, asked: TimesAsked & { id?: string | undefined }): Promise<ScheduleTimes | Refusal>;
}
