import type { PutSchedule } from "@unacked/contracts";
import { paramsOf } from "./params-text.ts";

/** A new schedule of a task, as it is typed. */
export interface ScheduleForm {
  id: string;
  cron: string;
  timeZone: string;
  type: string;
  /** "": the default one. */
  pool: string;
  params: string;
}

export type ScheduleFlaws = Partial<Record<keyof ScheduleForm, string>>;

/** What the manager is asked; or what keeps it from being asked. Whatever else is wrong the manager says. */
export function scheduleOf({
  id,
  cron,
  timeZone,
  type,
  pool,
  params,
}: ScheduleForm): { body: PutSchedule } | { flaws: ScheduleFlaws } {
  const read = paramsOf(params);
  const flaws = { ...(id === "" && { id: "is needed" }), ...("flaw" in read && { params: read.flaw }) };
  if (id === "" || "flaw" in read) return { flaws };
  const body = {
    cron,
    ...(timeZone !== "" && { timeZone }),
    task: { type, ...(pool !== "" && { pool }), params: read.params },
  };
  return { body: body as PutSchedule };
}

const FIELDS: readonly [pointer: string, field: keyof ScheduleForm][] = [
  ["/task/params", "params"],
  ["/task/type", "type"],
  ["/task/pool", "pool"],
  ["/timeZone", "timeZone"],
  ["/cron", "cron"],
];

/** What the manager found, at its fields; what belongs to none is told with its answer. */
export function scheduleFlawsOf(errors: readonly { pointer?: string | undefined; message: string }[]): ScheduleFlaws {
  const flaws: ScheduleFlaws = {};
  for (const { pointer = "", message } of errors) {
    const [, field] = FIELDS.find(([each]) => pointer === each || pointer.startsWith(`${each}/`)) ?? [];
    if (field !== undefined) flaws[field] = message;
  }
  return flaws;
}
