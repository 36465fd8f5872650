import type {
  OccurrenceReason,
  OccurrenceStatusName,
  OccurrenceView,
  ScheduleStatusName,
  ScheduleView,
} from "@unacked/contracts";
import type { Tone } from "./statuses.ts";
import { TASK_LOOKS } from "./task-looks.ts";

interface Looks {
  tone: Tone;
  sign: string;
  meaning: string;
}

/** In the order in which they are shown. A status that the contracts gain is missing here, and does not compile. */
export const SCHEDULE_LOOKS: Record<ScheduleStatusName, Looks> = {
  Active: { tone: "good", sign: "●", meaning: "goes on by the calendar" },
  Paused: { tone: "wait", sign: "‖", meaning: "nothing of it starts until it is resumed" },
  Over: { tone: "over", sign: "○", meaning: "no time of it is left" },
};

export const SCHEDULE_SHOWN = Object.keys(SCHEDULE_LOOKS) as ScheduleStatusName[];

const OCCURRENCE_LOOKS: Record<OccurrenceStatusName, Looks> = {
  started: { tone: "good", sign: "✓", meaning: "has started" },
  queued: { tone: "wait", sign: "◔", meaning: "starts when the one before it is over" },
  skipped: { tone: "over", sign: "○", meaning: "was left out" },
  missed: { tone: "bad", sign: "✕", meaning: "was not started, as nobody was there in time" },
};

/** Why one has not started, for people. */
export const REASONS: Record<OccurrenceReason, string> = {
  overlap: "the task before it was not over",
  superseded: "a later one was due at the same time",
  "queue-full": "too many are queued",
  "key-taken": "another task has its key",
  refused: "its task is refused",
  "catch-up-none": "it was too late, and nothing is to be caught up",
  "catch-up-latest": "it was too late, and only the last is caught up",
  "catch-up-window": "it was later than may be caught up",
  "catch-up-max": "more were late than may be caught up",
  changed: "the schedule was changed before",
};

/** One that has started looks as its task does. */
export function looksOfOccurrence({ status, taskStatus, observers, reason }: OccurrenceView): Looks & { text: string } {
  if (status === "started" && taskStatus !== null) {
    const { tone, sign, meaning } = TASK_LOOKS[taskStatus];
    return { tone: taskStatus === "Completed" ? "good" : tone, sign, meaning: `its task ${meaning}`, text: taskStatus };
  }
  if (status === "started" && observers !== null)
    return {
      tone: "good",
      sign: observers.wanted === "running" ? "●" : "‖",
      meaning: `its observers are wanted ${observers.wanted}`,
      text: observers.wanted,
    };
  const looks = OCCURRENCE_LOOKS[status];
  return { ...looks, text: status, meaning: reason === null ? looks.meaning : REASONS[reason] };
}

/** When it is due, as it was written. */
export function sayWhen({
  cron,
  everyMs,
  hours,
  timeZone,
}: Pick<ScheduleView, "cron" | "everyMs" | "hours" | "timeZone">): string {
  if (cron !== null) return `${cron} · ${timeZone}`;
  if (everyMs !== null) return `every ${sayEvery(everyMs)}`;
  const all = (hours ?? []).map(({ days, from, to }) => `${days.length === 7 ? "daily" : days.join(" ")} ${from}–${to}`);
  return `${all.join(", ")} · ${timeZone}`;
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
  [1, "ms"],
] as const;

/** `90 s` and not `1 min 30 s`: as exactly as it was given. */
function sayEvery(ms: number): string {
  const [size, unit] = UNITS.find(([length]) => ms % length === 0) ?? [1, "ms"];
  return `${ms / size} ${unit}`;
}

/** What it does. */
export function sayWhat({ task, observers }: Pick<ScheduleView, "task" | "observers">): string {
  if (task !== null) return `task ${task.type}`;
  if (observers === null) return "";
  const { ids, names, wanted } = observers;
  const which = names?.join(", ") ?? (ids === undefined ? "those of a filter" : `${ids.length} by id`);
  return `observers ${wanted}: ${which}`;
}
