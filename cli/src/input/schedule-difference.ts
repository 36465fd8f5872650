import { type BodyOf, PutSchedule, SCHEDULE_DEFAULTS, type ScheduleView } from "@unacked/contracts";
import { type Difference, differencesAt } from "./observer-difference.ts";

/** Where a schedule differs from its document. What the document leaves out has its default, as in a PUT. */
export function differencesOfSchedule(schedule: ScheduleView, body: BodyOf<"putSchedule">): Difference[] {
  const wanted = asShown(PutSchedule.parse(body));
  return Object.entries(wanted).flatMap(([key, value]) => differencesAt(schedule[key as keyof ScheduleView], value, [key]));
}

function asShown(given: PutSchedule) {
  const { description = null, everyMs = null, hours = null, task = null, observers = null } = given;
  return {
    ...SCHEDULE_DEFAULTS,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    description,
    cron: given.cron?.trim().split(/\s+/).join(" ") ?? null,
    everyMs,
    hours,
    except: observers === null ? null : (given.except ?? []).toSorted(),
    startAt: isoOf(given.startAt),
    endAt: isoOf(given.endAt),
    task,
    observers,
  };
}

const isoOf = (text: string | undefined): string | null => (text === undefined ? null : new Date(text).toISOString());
