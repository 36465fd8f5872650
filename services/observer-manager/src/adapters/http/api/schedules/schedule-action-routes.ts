import type { ScheduleTools } from "../../../../operations/schedules/schedule-tools.ts";
import {
  BACKFILL,
  BACKFILLED,
  NIGHTLY_VIEW,
  PAUSED_SCHEDULE,
  REQUESTED_RUN_ID,
  RUN_BY_HAND,
  SKIPPED,
} from "../../openapi/examples/schedule-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls on a schedule other than those that define it. */
export const scheduleActionRoutes = (schedules: ScheduleTools): Route[] => [
  pause(schedules),
  resume(schedules),
  run(schedules),
  backfill(schedules),
];

const pause = (schedules: ScheduleTools) =>
  defineRoute("pauseSchedule")({
    tag: "Schedules",
    summary: "Pause a schedule: none of its times is due until it is resumed",
    description: "Safe to repeat. What it has started goes on; what is queued waits. Of observers: they stay as they are.",
    answers: { 200: { description: "It is paused", examples: { "It is paused": PAUSED_SCHEDULE } } },
    async handle({ scheduleId, by }) {
      const schedule = await schedules.pauseSchedule(scheduleId, by);
      return "code" in schedule ? schedule : { status: 200, body: schedule };
    },
  });

const resume = (schedules: ScheduleTools) =>
  defineRoute("resumeSchedule")({
    tag: "Schedules",
    summary: "Resume a schedule: from now on its times are due again",
    description: "Safe to repeat. What lay in the pause is no occurrence; a backfill makes up for it.",
    answers: { 200: { description: "It goes on", examples: { "It goes on": NIGHTLY_VIEW } } },
    async handle({ scheduleId, by }) {
      const schedule = await schedules.resumeSchedule(scheduleId, by);
      return "code" in schedule ? schedule : { status: 200, body: schedule };
    },
  });

const run = (schedules: ScheduleTools) =>
  defineRoute("runSchedule")({
    tag: "Schedules",
    summary: "Run it now: one occurrence more, marked as manual",
    description:
      "Also of one that is Paused or Over. Its policy of overlaps holds, unless the body names another. With an `id` of the client's own it is safe to repeat: asked again, it is answered with what became of it.",
    bodyExamples: { "As its times": {}, "Beside what runs, safe to repeat": { id: REQUESTED_RUN_ID, overlap: "allow" } },
    answers: {
      200: {
        description: "What became of it",
        examples: {
          "Its task is there": RUN_BY_HAND,
          "The one before is not over": { ...SKIPPED, cause: "manual", by: "alice" },
        },
      },
    },
    async handle({ scheduleId, body, by }) {
      const occurrence = await schedules.runSchedule(scheduleId, body, by);
      return "code" in occurrence ? occurrence : { status: 200, body: occurrence };
    },
  });

const backfill = (schedules: ScheduleTools) =>
  defineRoute("backfillSchedule")({
    tag: "Schedules",
    summary: "Start its times of a stretch that has passed",
    description:
      "By its expression as it is now, which the answer names. Those that have started are left alone, so that it is safe to repeat; at most 1,000 a call.",
    bodyExamples: { "A week": BACKFILL, "How many that would be": { ...BACKFILL, dryRun: true } },
    answers: { 200: { description: "What became of them", examples: { "One after the other": BACKFILLED } } },
    async handle({ scheduleId, body, by }) {
      const answer = await schedules.backfillSchedule(scheduleId, body, by);
      return "code" in answer ? answer : { status: 200, body: answer };
    },
  });
