import { type BodyOf, PutSchedule, ScheduleId } from "@unacked/contracts";
import { type Assignment, withAssignments } from "./assignments.ts";
import type { ReadDocument } from "./document-text.ts";
import { issueText } from "./issue-text.ts";
import { refuseFlaws, whereIn } from "./observer-documents.ts";

/** A schedule as a file has it: its id under `schedule`, and beside it what PUT takes. */
export interface ScheduleDocument {
  id: string;
  body: BodyOf<"putSchedule">;
}

/** No observer has that key. */
export const isScheduleDocument = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "schedule" in value;

/** Checked by the contract's schema; whether its expression is one, the manager says. All that is wrong is told at once, with its place. */
export function toSchedules(documents: ReadDocument[], assignments: Assignment[]): ScheduleDocument[] {
  const flaws: string[] = [];
  const places = new Map<string, string>();
  const schedules = documents.flatMap(({ value, place }) => {
    const { schedule, ...body } = withAssignments(value, assignments) as { schedule: unknown };
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
    return [{ id: id.data, body: body as ScheduleDocument["body"] }];
  });
  refuseFlaws(flaws);
  return schedules;
}
