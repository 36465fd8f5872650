import { z } from "zod";
import { ChangeObserver } from "../observer-spec.ts";
import {
  BatchResults,
  BulkCount,
  BulkResults,
  CreateObservers,
  MAX_BATCH_BODY_BYTES,
  MAX_REFS_BODY_BYTES,
  ObserverReceipts,
  PauseRequest,
  RestartRequest,
  ResumeRequest,
  StopRequest,
} from "../rest/bulk.ts";
import { CheckpointView, PutCheckpoint } from "../rest/checkpoints.ts";
import { LOG_EVENTS, ObserverLogs } from "../rest/logs.ts";
import { ObserverColumns } from "../rest/observer-columns.ts";
import { observerFilterQuery } from "../rest/observer-filter.ts";
import { CreateObserver, ObserverChanged, ObserverPage, ObserverView, PutObserver, whenFull } from "../rest/observers.ts";
import { RunList } from "../rest/runs.ts";
import { TimelinePage } from "../rest/timeline.ts";
import { BODY_PROBLEMS, type Call } from "./call.ts";
import { ifMatch } from "./if-match.ts";
import { prefer } from "./prefer.ts";
import { flag, limitFrom, pageCursor, pageLimit } from "./query-fields.ts";

/** The answer lists ids and names one by one; for a filter it is a count. */
const BulkAnswer = z.union([BulkResults, BulkCount]);

const listQuery = {
  ...observerFilterQuery,
  sort: z
    .enum(["newest", "oldest", "attempts"])
    .default("newest")
    .describe(
      "`newest`: by creation, the newest first · `oldest`: the other way round · `attempts`: the most `attempts` first, then the newest",
    ),
};

/** The most rows of columns: each takes a fifth of the bytes and the time that it takes in the list. */
const MAX_COLUMN_ROWS = 5_000;

const changeQuery = z.strictObject({
  whenFull: whenFull.describe("of a change to another pool, while it runs or waits to: as at a create"),
  dryRun: flag.describe("answers as if, and changes nothing"),
});

const CHANGE_PROBLEMS = [
  "observer-not-found",
  "spec-changed",
  "unknown-type",
  "pool-not-served",
  "no-free-worker",
  "admission-not-known",
  "already-deleting",
  "already-deleted",
] as const;

const CHECKPOINT_PROBLEMS = ["observer-not-found", "has-run", "already-deleted", "checkpoint-changed"] as const;

/** Calls about observers, jobs without an end: one by one, and many at once. */
export const OBSERVER_CALLS = {
  createObserver: {
    access: "operator",
    body: CreateObserver,
    answers: { 200: ObserverView, 201: ObserverView },
    problems: [
      ...BODY_PROBLEMS,
      "name-taken",
      "id-taken",
      "unknown-type",
      "pool-not-served",
      "no-free-worker",
      "admission-not-known",
      "cross-origin",
    ],
  },
  listObservers: {
    access: "viewer",
    query: z.strictObject({ ...listQuery, limit: pageLimit, cursor: pageCursor }),
    answers: { 200: ObserverPage },
    problems: [],
  },
  listObserverColumns: {
    access: "viewer",
    query: z.strictObject({
      ...listQuery,
      limit: limitFrom(1, MAX_COLUMN_ROWS).describe("how many on a page"),
      cursor: pageCursor,
    }),
    answers: { 200: ObserverColumns },
    problems: [],
  },
  getObserver: { access: "viewer", answers: { 200: ObserverView }, problems: ["observer-not-found"] },
  changeObserver: {
    access: "operator",
    query: changeQuery,
    headers: ifMatch,
    body: ChangeObserver,
    answers: { 200: ObserverChanged, 202: ObserverChanged },
    problems: [...BODY_PROBLEMS, ...CHANGE_PROBLEMS, "cross-origin"],
  },
  putObserver: {
    access: "operator",
    headers: ifMatch,
    body: PutObserver,
    answers: { 200: ObserverChanged, 201: ObserverChanged, 202: ObserverChanged },
    problems: [...BODY_PROBLEMS, ...CHANGE_PROBLEMS, "other-type", "invalid-id", "name-taken", "cross-origin"],
  },
  listRuns: { access: "viewer", answers: { 200: RunList }, problems: ["observer-not-found"] },
  getTimeline: {
    access: "viewer",
    query: z.strictObject({ limit: pageLimit, cursor: pageCursor }),
    answers: { 200: TimelinePage },
    problems: ["observer-not-found"],
  },
  getLogs: {
    access: "viewer",
    query: z.strictObject({
      follow: flag.describe("go on with what comes from now on, as server-sent events"),
      limit: limitFrom(0).describe("how many of the newest"),
    }),
    headers: z.object({
      "Last-Event-ID": z.string().optional().describe("with `follow`: the `id` of the last entry received"),
    }),
    answers: { 200: ObserverLogs },
    events: LOG_EVENTS,
    problems: ["observer-not-found", "too-many-log-streams", "logs-unavailable"],
  },
  deleteObserver: {
    access: "operator",
    query: z.strictObject({ force: flag.describe("delete also what has not started, or what nobody answers for") }),
    answers: { 202: ObserverView },
    problems: ["observer-not-found", "not-activated", "already-deleting", "already-deleted", "not-ready", "cross-origin"],
  },
  restartObserver: {
    access: "operator",
    answers: { 202: ObserverView },
    problems: [
      "observer-not-found",
      "not-restartable",
      "paused",
      "scheduled",
      "already-deleting",
      "already-deleted",
      "not-ready",
      "cross-origin",
    ],
  },
  moveObserver: {
    access: "operator",
    answers: { 202: ObserverView },
    problems: ["observer-not-found", "not-movable", "nowhere-to-move", "service-too-old", "not-ready", "cross-origin"],
  },
  pauseObserver: {
    access: "operator",
    answers: { 200: ObserverView, 202: ObserverView },
    problems: ["observer-not-found", "not-pausable", "already-deleting", "already-deleted", "not-ready", "cross-origin"],
  },
  resumeObserver: {
    access: "operator",
    query: z.strictObject({ whenFull }),
    answers: { 202: ObserverView },
    problems: [
      "observer-not-found",
      "not-paused",
      "already-deleting",
      "already-deleted",
      "no-free-worker",
      "not-ready",
      "cross-origin",
    ],
  },
  getCheckpoint: { access: "viewer", answers: { 200: CheckpointView }, problems: ["observer-not-found"] },
  putCheckpoint: {
    access: "admin",
    headers: ifMatch,
    body: PutCheckpoint,
    answers: { 200: CheckpointView },
    problems: [...BODY_PROBLEMS, ...CHECKPOINT_PROBLEMS, "cross-origin"],
  },
  resetCheckpoint: {
    access: "admin",
    headers: ifMatch,
    answers: { 200: CheckpointView },
    problems: [...CHECKPOINT_PROBLEMS, "not-ready", "cross-origin"],
  },
  createObservers: {
    access: "operator",
    body: CreateObservers,
    bodyLimitBytes: MAX_BATCH_BODY_BYTES,
    headers: prefer,
    answers: { 200: BatchResults },
    minimal: { 200: ObserverReceipts },
    problems: [...BODY_PROBLEMS, "cross-origin"],
    itemProblems: [
      "invalid-body",
      "body-too-large",
      "name-taken",
      "id-taken",
      "batch-refused",
      "unknown-type",
      "pool-not-served",
      "no-free-worker",
      "admission-not-known",
      "batch-interrupted",
    ],
  },
  stopObservers: {
    access: "operator",
    body: StopRequest,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    answers: { 200: BulkAnswer },
    problems: [...BODY_PROBLEMS, "cross-origin"],
    itemProblems: ["observer-not-found", "not-activated", "already-deleting", "already-deleted", "batch-interrupted"],
  },
  restartObservers: {
    access: "operator",
    body: RestartRequest,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    answers: { 200: BulkAnswer },
    problems: [...BODY_PROBLEMS, "cross-origin"],
    itemProblems: [
      "observer-not-found",
      "not-restartable",
      "paused",
      "scheduled",
      "already-deleting",
      "already-deleted",
      "batch-interrupted",
    ],
  },
  pauseObservers: {
    access: "operator",
    body: PauseRequest,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    answers: { 200: BulkAnswer },
    problems: [...BODY_PROBLEMS, "cross-origin"],
    itemProblems: ["observer-not-found", "not-pausable", "already-deleting", "already-deleted", "batch-interrupted"],
  },
  resumeObservers: {
    access: "operator",
    body: ResumeRequest,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    answers: { 200: BulkAnswer },
    problems: [...BODY_PROBLEMS, "cross-origin"],
    itemProblems: [
      "observer-not-found",
      "not-paused",
      "already-deleting",
      "already-deleted",
      "no-free-worker",
      "batch-interrupted",
    ],
  },
} as const satisfies Record<string, Call>;
