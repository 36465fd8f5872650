import {
  BrokenFile,
  ErrorText,
  MAX_BUNDLE,
  MAX_CHECKPOINT_BYTES,
  MAX_POSTPONE_MS,
  MAX_TASK_OUTPUT_BYTES,
  MAX_UPDATE_REASON,
  ObserverTypeInfo,
  SpecVersion,
  TaskCreations,
  TaskId,
  TaskPostponement,
  TaskTypeInfo,
  UPDATE_OUTCOMES,
} from "@unacked/contracts";
import { z } from "zod";
import { type FromSlot, MAX_TOLD_STACK, type WatchdogWord } from "../../../wire/messages.ts";

/** Messages from a slot are trusted no further than this, as handlers share the process that sends them. */

const attempt = z.int().min(1);
const text = z.string().max(65_536);
/** An id, a name. */
const short = z.string().max(1_000);
const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

/** It is at most a year away, as in `ctx.postpone`. */
const SlotPostponement = TaskPostponement.overwrite((given) =>
  given.at === undefined ? given : { ...given, at: Math.min(given.at, Date.now() + MAX_POSTPONE_MS) },
);

export const FromSlotSchema: z.ZodType<FromSlot> = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("loaded"),
    types: z.array(ObserverTypeInfo),
    unannounced: z.array(z.object({ type: z.string(), reason: z.string() })),
    unknownFields: z.array(z.object({ type: z.string(), fields: z.array(z.string()) })),
    notOffered: z.array(z.object({ file: z.string(), problem: z.string() })),
    broken: z.array(BrokenFile),
    tasks: z.array(
      TaskTypeInfo.extend({
        retry: z.object({ maxAttempts: z.int(), initialMs: amount, factor: amount, maxMs: amount, jitter: amount }),
        timeoutMs: amount.optional(),
      }),
    ),
    isolation: z.array(
      z.object({ type: z.string(), runsPerSlot: z.int().min(1).optional(), memoryMb: z.int().min(32).optional() }),
    ),
    code: z.array(z.object({ type: z.string(), file: z.string(), print: z.string().max(100) })),
  }),
  z.object({ kind: z.literal("not-loaded"), problem: z.string() }),
  z.object({
    kind: z.literal("loading"),
    file: z.object({ file: text, print: z.string().max(100) }).optional(),
  }),
  z.object({ kind: z.literal("bad-params"), attempt, error: ErrorText }),
  z.object({ kind: z.literal("not-begun"), attempt }),
  z.object({ kind: z.literal("fenced"), attempt }),
  z.object({
    kind: z.literal("settled"),
    attempt,
    outcome: z.enum(["completed", "stopped", "failed"]),
    error: ErrorText.optional(),
    output: z.string().max(MAX_TASK_OUTPUT_BYTES).optional(),
    isFinal: z.boolean().optional(),
    postponement: SlotPostponement.optional(),
    isEmergency: z.boolean().optional(),
    creations: TaskCreations.optional(),
  }),
  z.object({
    kind: z.literal("results"),
    attempt,
    results: z
      .array(
        z.object({
          taskId: TaskId,
          output: z.string().max(MAX_TASK_OUTPUT_BYTES).optional(),
          error: ErrorText.optional(),
          isFinal: z.boolean().optional(),
        }),
      )
      .max(MAX_BUNDLE),
  }),
  z.object({ kind: z.literal("thrown"), attempt, what: z.string().max(1_000), error: ErrorText }),
  z.object({ kind: z.literal("uncaught"), attempt, error: ErrorText, isFinal: z.boolean().optional() }),
  z.object({ kind: z.literal("silence"), attempt, quietForMs: amount.optional() }),
  z.object({
    kind: z.literal("updated"),
    attempt,
    specVersion: SpecVersion,
    outcome: z.enum(UPDATE_OUTCOMES),
    reason: z.string().max(MAX_UPDATE_REASON).optional(),
  }),
  z.object({ kind: z.literal("save"), attempt, save: z.int().min(1), json: z.string().max(MAX_CHECKPOINT_BYTES) }),
  z.object({ kind: z.literal("emit"), attempt, emit: z.int().min(1), json: z.string() }),
  z.object({
    kind: z.literal("log"),
    attempt,
    level: z.enum(["debug", "info", "warn", "error"]),
    message: z.string(),
    isHandlers: z.boolean(),
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({ kind: z.literal("lines-dropped"), attempt, lines: z.int().min(1) }),
  z.object({ kind: z.literal("lag"), lagMs: amount, memoryBytes: amount.optional() }),
  z.object({ kind: z.literal("file-error"), file: text, error: ErrorText, times: z.int().min(1) }),
  z.object({
    kind: z.literal("late"),
    runId: short,
    type: short,
    observer: z.object({ id: short, name: short }).optional(),
    task: short.optional(),
    error: ErrorText.optional(),
    times: z.int().min(1),
  }),
  z.object({ kind: z.literal("unattributed"), error: ErrorText }),
]);

export const WatchdogWordSchema: z.ZodType<WatchdogWord> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("alive") }),
  z.object({
    kind: z.literal("stuck"),
    forMs: z.number().min(0),
    runId: z.string().optional(),
    file: text.optional(),
    isUsed: z.boolean().optional(),
    stack: z.string().max(MAX_TOLD_STACK).optional(),
  }),
]);
