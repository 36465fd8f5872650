import { decodeOccurrenceCursor, decodeScheduleCursor } from "../../../../operations/cursor.ts";
import type { ScheduleTools } from "../../../../operations/schedules/schedule-tools.ts";
import {
  EVERY_TEN_SECONDS,
  MARKET_HOURS,
  MARKET_VIEW,
  NEXT_CHANGES,
  NEXT_TIMES,
  NIGHTLY,
  NIGHTLY_VIEW,
  OCCURRENCE_PAGE,
  PAUSED_SCHEDULE,
  SCHEDULE_CREATED,
  SCHEDULE_EXISTED,
  SCHEDULE_PAGE,
  SCHEDULE_REPLACED,
} from "../../openapi/examples/schedule-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { scheduleActionRoutes } from "./schedule-action-routes.ts";

export const scheduleRoutes = (schedules: ScheduleTools): Route[] => [
  put(schedules),
  list(schedules),
  show(schedules),
  remove(schedules),
  ...scheduleActionRoutes(schedules),
  occurrences(schedules),
  next(schedules),
  preview(schedules),
];

const put = (schedules: ScheduleTools) =>
  defineRoute("putSchedule")({
    tag: "Schedules",
    summary: "Set a schedule: at its times it creates tasks, or in its hours it lets observers run",
    description:
      "Safe to repeat. Other content replaces it: what it does from then on; times that were due and not decided about by then are told as missed, if its times have changed.",
    bodyExamples: {
      "A task each night": NIGHTLY,
      "A task every ten seconds, one after the other": EVERY_TEN_SECONDS,
      "Observers by market hours": MARKET_HOURS,
    },
    answers: {
      200: {
        description: "It was there already",
        examples: { "With the same content": SCHEDULE_EXISTED, "With other content, which is gone": SCHEDULE_REPLACED },
      },
      201: { description: "Accepted", examples: { "It is new": SCHEDULE_CREATED } },
    },
    async handle({ scheduleId, body, by }) {
      const outcome = await schedules.putSchedule(scheduleId, body, by);
      if (outcome.kind === "problem") return outcome;
      const { kind, schedule } = outcome;
      return { status: kind === "created" ? 201 : 200, body: { ...schedule, outcome: kind } };
    },
  });

const list = (schedules: ScheduleTools) =>
  defineRoute("listSchedules")({
    tag: "Schedules",
    summary: "List schedules, by their ids",
    answers: { 200: { description: "One page", examples: { "Two of them": SCHEDULE_PAGE } } },
    async handle({ query: { status: statuses, type, q, limit, cursor } }) {
      const after = readCursor(cursor, decodeScheduleCursor);
      return { status: 200, body: await schedules.listSchedules({ statuses, type, q, limit, after }) };
    },
  });

const show = (schedules: ScheduleTools) =>
  defineRoute("getSchedule")({
    tag: "Schedules",
    summary: "One schedule",
    answers: {
      200: {
        description: "The schedule",
        examples: { "With a task": NIGHTLY_VIEW, "With observers": MARKET_VIEW, "It is paused": PAUSED_SCHEDULE },
      },
    },
    async handle({ scheduleId }) {
      const schedule = await schedules.findSchedule(scheduleId);
      return schedule === undefined ? { kind: "problem", code: "schedule-not-found" } : { status: 200, body: schedule };
    },
  });

const remove = (schedules: ScheduleTools) =>
  defineRoute("deleteSchedule")({
    tag: "Schedules",
    summary: "Delete a schedule, with what is remembered of its times",
    description: "Tasks that it has created go on; what is queued does not start. Observers stay as they are.",
    answers: { 204: { description: "It is gone" } },
    async handle({ scheduleId, by }) {
      const outcome = await schedules.deleteSchedule(scheduleId, by);
      return outcome.kind === "problem" ? outcome : { status: 204 };
    },
  });

const occurrences = (schedules: ScheduleTools) =>
  defineRoute("listOccurrences")({
    tag: "Schedules",
    summary: "What became of its times, the newest first",
    answers: { 200: { description: "One page", examples: { "Started, skipped, and run by hand": OCCURRENCE_PAGE } } },
    async handle({ scheduleId, query: { status: statuses, limit, cursor } }) {
      const afterMicros = readCursor(cursor, decodeOccurrenceCursor);
      const page = await schedules.listOccurrences(scheduleId, { statuses, limit, afterMicros });
      return "code" in page ? page : { status: 200, body: page };
    },
  });

const next = (schedules: ScheduleTools) =>
  defineRoute("nextTimes")({
    tag: "Schedules",
    summary: "Its next times; of observers, when they change",
    answers: { 200: { description: "In order", examples: { "The next one": NEXT_TIMES } } },
    async handle({ scheduleId, query }) {
      const times = await schedules.nextTimes(scheduleId, query);
      return "code" in times ? times : { status: 200, body: times };
    },
  });

const preview = (schedules: ScheduleTools) =>
  defineRoute("previewSchedule")({
    tag: "Schedules",
    summary: "The next times of a schedule that is not there yet",
    description: "Changes nothing. The body is that of PUT.",
    bodyExamples: { "A task each night": NIGHTLY, "Observers by market hours": MARKET_HOURS },
    answers: {
      200: {
        description: "In order",
        examples: { "The next one": { ...NEXT_TIMES, version: null }, "The next change": NEXT_CHANGES },
      },
    },
    async handle({ body, query }) {
      const times = await schedules.previewSchedule(body, query);
      return "code" in times ? times : { status: 200, body: times };
    },
  });

/** Throws HttpProblem. */
function readCursor(cursor: string | undefined, decode: (text: string) => string | undefined): string | undefined {
  const after = cursor === undefined ? undefined : decode(cursor);
  if (cursor === undefined || after !== undefined) return after;
  throw new HttpProblem({ code: "invalid-query", errors: [{ parameter: "cursor", message: "not a cursor of this list" }] });
}
