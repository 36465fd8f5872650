import { z } from "zod";
import { timestamp } from "../bounds.ts";
import { ScheduleId, TypeName } from "../ids.ts";
import {
  BackfillAnswer,
  BackfillSchedule,
  OccurrencePage,
  OccurrenceStatusName,
  OccurrenceView,
  PutSchedule,
  PutScheduleAnswer,
  RunSchedule,
  SchedulePage,
  ScheduleStatusName,
  ScheduleTimes,
  ScheduleView,
} from "../rest/schedules.ts";
import { BODY_PROBLEMS, type Call } from "./call.ts";
import { keptText, limitFrom, listOf, pageCursor, pageLimit } from "./query-fields.ts";

const window = {
  n: limitFrom(1).describe("how many at most"),
  from: timestamp.optional().describe("ISO 8601: after that; default: now"),
  to: timestamp.optional().describe("ISO 8601: before that"),
};

/** Calls about schedules: what happens by the calendar. */
export const SCHEDULE_CALLS = {
  putSchedule: {
    access: "operator",
    body: PutSchedule,
    answers: { 200: PutScheduleAnswer, 201: PutScheduleAnswer },
    problems: [...BODY_PROBLEMS, "invalid-id", "unknown-type", "cross-origin"],
  },
  listSchedules: {
    access: "viewer",
    query: z.strictObject({
      status: listOf(ScheduleStatusName).optional().describe("repeat it, or separate by commas"),
      type: TypeName.optional().describe("of the task that they create"),
      q: keptText(128).optional().describe("a part of the id, in any case"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: SchedulePage },
    problems: [],
  },
  getSchedule: { access: "viewer", answers: { 200: ScheduleView }, problems: ["schedule-not-found"] },
  deleteSchedule: { access: "operator", answers: { 204: null }, problems: ["schedule-not-found", "cross-origin"] },
  pauseSchedule: {
    access: "operator",
    answers: { 200: ScheduleView },
    problems: ["schedule-not-found", "cross-origin"],
  },
  resumeSchedule: {
    access: "operator",
    answers: { 200: ScheduleView },
    problems: ["schedule-not-found", "schedule-unreadable", "cross-origin"],
  },
  runSchedule: {
    access: "operator",
    body: RunSchedule,
    answers: { 200: OccurrenceView },
    problems: [
      ...BODY_PROBLEMS,
      "schedule-not-found",
      "schedule-unreadable",
      "schedule-without-task",
      "id-taken",
      "cross-origin",
    ],
  },
  backfillSchedule: {
    access: "operator",
    body: BackfillSchedule,
    answers: { 200: BackfillAnswer },
    problems: [...BODY_PROBLEMS, "schedule-not-found", "schedule-unreadable", "schedule-without-task", "cross-origin"],
  },
  listOccurrences: {
    access: "viewer",
    query: z.strictObject({
      status: listOf(OccurrenceStatusName).optional().describe("repeat it, or separate by commas"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: OccurrencePage },
    problems: ["schedule-not-found"],
  },
  nextTimes: {
    access: "viewer",
    query: z.strictObject(window),
    answers: { 200: ScheduleTimes },
    problems: ["schedule-not-found", "schedule-unreadable"],
  },
  previewSchedule: {
    access: "viewer",
    query: z.strictObject({ ...window, id: ScheduleId.optional().describe("which it is to have: `dueAt` depends on it") }),
    body: PutSchedule,
    answers: { 200: ScheduleTimes },
    problems: [...BODY_PROBLEMS, "cross-origin"],
  },
} as const satisfies Record<string, Call>;
