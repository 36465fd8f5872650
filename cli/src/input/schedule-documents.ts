import { type BodyOf, PutSchedule, ScheduleId, type ScheduleView } from "@unacked/contracts";
import { type Assignment, withAssignments } from "./assignments.ts";
import type { ReadDocument } from "./document-text.ts";
import { issueText } from "./issue-text.ts";
import { refuseFlaws, whereIn } from "./observer-documents.ts";

/** A schedule in a file: its id under `schedule`, and beside it what PUT takes. */
export interface ScheduleDocument {
  id: string;
  body: BodyOf<"putSchedule">;
  /** `get schedules` wrote it as Paused, which PUT does not take. */
  isPaused?: boolean;
}

/** Observers have none of these keys. */
export const isScheduleDocument = (value: unknown): boolean =>
  typeof value === "object" && value !== null && ("schedule" in value || isView(value));

/** Whether `get schedules` wrote it. */
const isView = (value: object): value is ScheduleView => "id" in value && "nextDueAt" in value && "catchUp" in value;

/** A view has every field, even those that a schedule of its kind may not be given. */
function asDefinition(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !isView(value)) return value;
  const { id, description, keep, timeZone, task, observers, hours, except } = value;
  const { cron, everyMs, startAt, endAt, jitterMs, overlap, catchUp, catchUpWindowMs, catchUpMax } = value;
  const timing = { cron, everyMs, startAt, endAt, jitterMs, overlap, catchUp, catchUpWindowMs, catchUpMax };
  const ofKind = task === null ? { hours, except, observers } : { ...timing, task };
  const all = { schedule: id, description, keep, ...(everyMs === null && { timeZone }), ...ofKind };
  return Object.fromEntries(Object.entries(all).filter(([, field]) => field !== null));
}

const wasPaused = (value: unknown): boolean =>
  typeof value === "object" && value !== null && isView(value) && value.status === "Paused";

/** Checks schedules by the contract's schema; only the manager checks the expression. Reports all mistakes at once, with their places. */
export function toSchedules(documents: ReadDocument[], assignments: Assignment[]): ScheduleDocument[] {
  const flaws: string[] = [];
  const places = new Map<string, string>();
  const schedules = documents.flatMap(({ value, place }) => {
    const { schedule, ...body } = withAssignments(asDefinition(value), assignments) as { schedule: unknown };
    const id = ScheduleId.safeParse(schedule);
    const parsed = PutSchedule.safeParse(body);
    const issues = [
      ...(id.error?.issues ?? []).map((issue) => ({ ...issue, path: ["schedule", ...issue.path] })),
      ...(parsed.error?.issues ?? []),
    ];
    flaws.push(...issues.map((issue) => `${place}: ${whereIn(issue.path)}${issueText(issue)}`));
    if (!id.success || !parsed.success) return [];
    const earlier = places.get(id.data);
    if (earlier !== undefined) flaws.push(`${place}: ${id.data} is defined in ${earlier} already`);
    places.set(id.data, place);
    return [{ id: id.data, body: body as ScheduleDocument["body"], ...(wasPaused(value) && { isPaused: true }) }];
  });
  refuseFlaws(flaws);
  return schedules;
}
