import { z } from "zod";
import { END_OF_TIMES_MS, timestamp } from "../bounds.ts";
import { TimerId, TimerName } from "../ids.ts";
import { MAX_BULK } from "./bulk.ts";
import { ProblemDetails } from "./problem-details.ts";
import { Timestamp } from "./timestamp.ts";

/** The bound of a timer's payload, as JSON. */
export const MAX_TIMER_PAYLOAD_BYTES = 65_536;
/** A thousand years: far from the end of times, wherever the clock stands. */
export const MAX_TIMER_IN_MS = 31_557_600_000_000;

export const TIMER_STATUSES = ["Waiting", "Firing", "Fired", "Cancelled", "Expired"] as const;
export const TIMER_OVER_STATUSES = ["Fired", "Cancelled", "Expired"] as const satisfies (typeof TIMER_STATUSES)[number][];
export const TimerStatusName = z.enum(TIMER_STATUSES);
export type TimerStatusName = z.infer<typeof TimerStatusName>;

/** `returned`: no queue took it, so nobody heard it · `refused`: a queue did not take it, or one before it · `unknown`: nobody can say. */
export const TIMER_PROBLEMS = ["returned", "refused", "unknown"] as const;

/** The meaning of each, for people. */
export const TIMER_PROBLEM_MEANINGS: Record<(typeof TIMER_PROBLEMS)[number], string> = {
  returned: "no queue is bound for its name",
  refused: "a queue did not take it",
  unknown: "nobody can say whether it was heard",
};

/** Times from 1970 on and before 9999, in which clocks and JSON agree. */
const MAX_INSTANT_S = END_OF_TIMES_MS / 1_000 - 1;

/** A moment: ISO 8601 with its offset, or UNIX time in seconds. */
const Instant = z.union([
  timestamp.refine((text) => !(Date.parse(text) < 0), "must be from 1970 on"),
  z.number().min(0).max(MAX_INSTANT_S),
]);
export type Instant = z.infer<typeof Instant>;

/** The instant in ms since the epoch. */
export const instantMs = (instant: Instant): number =>
  typeof instant === "number" ? Math.round(instant * 1_000) : Date.parse(instant);

const FIELDS = {
  at: Instant.optional().describe(
    "when it fires: ISO 8601, or UNIX time in seconds; one that has passed fires at once. Either this or `inMs`",
  ),
  inMs: z
    .int()
    .min(0)
    .max(MAX_TIMER_IN_MS)
    .optional()
    .describe("instead: how many ms from now, by the database's clock; setting the timer again starts it again from then"),
  name: TimerName.describe("the routing key that its message has on the exchange `unacked.timers`"),
  payload: z
    .unknown()
    .default(null)
    .describe(`any JSON value, at most ${MAX_TIMER_PAYLOAD_BYTES / 1_024} KiB: the body of its message`),
  expiresAt: Instant.optional().describe(
    "it does not fire after that; default: a day after its time, or after its creation where that is later",
  ),
};

type Times = { [Name in "at" | "expiresAt"]?: Instant | undefined } & { inMs?: number | undefined };

const WHEN = { message: "needs either `at` or `inMs`" };
const saysWhen = ({ at, inMs }: Times): boolean => (at === undefined) !== (inMs === undefined);
const EXPIRY = { message: "must be after `at`", path: ["expiresAt"] };
/** For `inMs` the database decides, as it counts by its clock. */
const expiresLater = ({ at, expiresAt }: Times): boolean =>
  at === undefined || expiresAt === undefined || instantMs(expiresAt) > instantMs(at);

/** PUT /timers/{timerId}. */
export const PutTimer = z.strictObject(FIELDS).refine(saysWhen, WHEN).refine(expiresLater, EXPIRY).meta({ id: "PutTimer" });
export type PutTimer = z.infer<typeof PutTimer>;

/** One of POST /timers/batch. */
export const CreateTimer = z
  .strictObject({ id: TimerId.describe("chosen by the client: makes the request safe to repeat"), ...FIELDS })
  .refine(saysWhen, WHEN)
  .refine(expiresLater, EXPIRY)
  .meta({ id: "CreateTimer" });
export type CreateTimer = z.infer<typeof CreateTimer>;

/** POST /timers/batch */
export const CreateTimers = z
  .strictObject({ timers: z.array(CreateTimer).min(1).max(MAX_BULK) })
  .meta({ id: "CreateTimers" });
export type CreateTimers = z.infer<typeof CreateTimers>;

/** The body as a whole; the items of its list are checked one by one. */
export const CreateTimersEnvelope = CreateTimers.extend({ timers: z.array(z.unknown()).min(1).max(MAX_BULK) });

export const TimerView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    at: Timestamp.describe("when it is to fire"),
    payload: z.unknown().refine((value): boolean => value !== undefined),
    status: TimerStatusName.describe(
      "Waiting: it can be cancelled · Firing: it is being published, or has been and nobody can say who heard · Fired · Cancelled: it never fires · Expired: nobody heard it until `expiresAt`",
    ),
    expiresAt: Timestamp.describe("it does not fire after that"),
    returns: z
      .int()
      .describe(
        "how often no queue took it, or one did not (it refused it, or what came before it, or confirmed nothing): it is tried again",
      ),
    lastProblem: z
      .enum(TIMER_PROBLEMS)
      .nullable()
      .describe(
        "of the last try. returned: no queue is bound for its name · refused: a queue did not take it, or what came before it · unknown: the broker or the manager went before the confirm, or none came; after these two it may be heard twice",
      ),
    nextTryAt: Timestamp.nullable().describe("null: it is over"),
    endedAt: Timestamp.nullable().describe("when it was Fired, Cancelled or Expired"),
    createdAt: Timestamp,
  })
  .meta({ id: "Timer" });
export type TimerView = z.infer<typeof TimerView>;

export const TIMER_OUTCOMES = ["created", "exists", "replaced"] as const;

/** The answer to a PUT. */
export const PutTimerAnswer = TimerView.extend({
  outcome: z
    .enum(TIMER_OUTCOMES)
    .describe(
      "created · exists: there already, with the same content · replaced: it waited, and is as this request says now",
    ),
}).meta({ id: "PutTimerAnswer" });
export type PutTimerAnswer = z.infer<typeof PutTimerAnswer>;

/** How far the timers of a filter are counted. */
export const MAX_TIMER_COUNT = 10_000;

export const TimerPage = z
  .object({
    items: z.array(TimerView),
    total: z.int().describe(`all that match the filter, not only this page; counted up to ${MAX_TIMER_COUNT}`),
    isTotalExact: z.boolean().describe("false: there are more than `total`"),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "TimerPage" });
export type TimerPage = z.infer<typeof TimerPage>;

/** The answer of POST /timers/batch, in the order given. */
export const TimerBatchResults = z
  .object({
    results: z.array(
      z.union([
        z.object({ status: z.int().describe("as the single call would have answered"), timer: PutTimerAnswer }),
        z.object({ status: z.int(), problem: ProblemDetails }),
      ]),
    ),
  })
  .meta({ id: "TimerBatchResults" });
export type TimerBatchResults = z.infer<typeof TimerBatchResults>;

/** A request over AMQP: the timers to cancel. */
export const CancelTimersEnvelope = z.strictObject({ cancelTimers: z.array(z.unknown()).min(1).max(MAX_BULK) });

/** The answer to that, in the order given. */
export const TimerCancelResults = z
  .object({
    results: z.array(
      z.union([
        z.object({ status: z.int().describe("as the single call would have answered"), timer: TimerView }),
        z.object({ status: z.int(), problem: ProblemDetails }),
      ]),
    ),
  })
  .meta({ id: "TimerCancelResults" });
export type TimerCancelResults = z.infer<typeof TimerCancelResults>;
