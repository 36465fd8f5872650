import { z } from "zod";
import { TimerName } from "../ids.ts";
import { MAX_BATCH_BODY_BYTES } from "../rest/bulk.ts";
import {
  CreateTimers,
  PutTimer,
  PutTimerAnswer,
  TimerBatchResults,
  TimerPage,
  TimerStatusName,
  TimerView,
} from "../rest/timers.ts";
import { BODY_PROBLEMS, type Call } from "./call.ts";
import { listOf, pageCursor, pageLimit } from "./query-fields.ts";

/** Calls about timers: messages that are sent at a time. */
export const TIMER_CALLS = {
  putTimer: {
    access: "operator",
    body: PutTimer,
    answers: { 200: PutTimerAnswer, 201: PutTimerAnswer },
    problems: [...BODY_PROBLEMS, "invalid-id", "timer-over", "cross-origin"],
  },
  createTimers: {
    access: "operator",
    body: CreateTimers,
    bodyLimitBytes: MAX_BATCH_BODY_BYTES,
    answers: { 200: TimerBatchResults },
    problems: [...BODY_PROBLEMS, "cross-origin"],
    itemProblems: ["invalid-body", "body-too-large", "timer-over"],
  },
  listTimers: {
    access: "viewer",
    query: z.strictObject({
      name: TimerName.optional().describe("exactly this name"),
      prefix: TimerName.optional().describe("its name begins like this"),
      status: listOf(TimerStatusName).optional().describe("repeat it, or separate by commas"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: TimerPage },
    problems: [],
  },
  getTimer: {
    access: "viewer",
    answers: { 200: TimerView },
    problems: ["timer-not-found"],
  },
  cancelTimer: {
    access: "operator",
    answers: { 200: TimerView },
    problems: ["timer-not-found", "already-fired", "timer-over", "cross-origin"],
  },
} as const satisfies Record<string, Call>;
