import { CALLS, type Call, type CallName, CHANGE_EVENTS, LOG_EVENTS, ProblemDetails } from "@unacked/contracts";
import { z } from "zod";
import { type AnyProblem, CallError } from "./call-error.ts";
import { answerIn, bodyOf, type Decoder, refusalOf, type StreamName } from "./decoder.ts";
import { withWhatIsAbsent } from "./older-answers.ts";

const EVENTS: Record<StreamName, Readonly<Record<string, z.ZodType>>> = {
  followChanges: CHANGE_EVENTS,
  getLogs: LOG_EVENTS,
};

/** Checks everything against the contracts. */
export const contractDecoder: Decoder = {
  answer(name, raw) {
    return checked(schemaOf(name, raw.status), answerIn(name, raw, contractDecoder), raw.request);
  },
  receipts(name, raw) {
    if (raw.status < 200 || raw.status > 299) throw refusalOf(raw, contractDecoder);
    return checked(CALLS[name].minimal[200], bodyOf(raw), raw.request);
  },
  event(stream, { event, data }, request) {
    const schema = Object.hasOwn(EVENTS[stream], event) ? EVENTS[stream][event] : undefined;
    if (schema === undefined) return undefined;
    const raw = { request: `the event "${event}" of ${request}`, status: 200, contentType: "application/json", text: data };
    return { name: event, data: checked(schema, bodyOf(raw), raw.request) };
  },
  problem: (body) => understood(ProblemDetails, body).data as AnyProblem | undefined,
};

/** A good status that the contracts do not have for this call is decoded like the others. */
function schemaOf(name: CallName, status: number): z.ZodType {
  const { answers }: Call = CALLS[name];
  return answers[status] ?? Object.values(answers)[0] ?? z.undefined();
}

function checked(schema: z.ZodType, value: unknown, request: string): unknown {
  const { data, error } = understood(schema, value);
  if (error === undefined) return data;
  throw new CallError("misshapen", `${request} answered with something else than this program expects`, {
    request,
    flaws: flawsOf(error),
    cause: error,
  });
}

/** Parses an answer of a manager of this version, an older one or a newer one. */
function understood(schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> {
  const asSaid = schema.safeParse(value);
  if (asSaid.success) return asSaid;
  const whole = withWhatIsAbsent(schema, value);
  const parsed = schema.safeParse(whole);
  return parsed.success || !isOfNewWords(parsed.error.issues, whole) ? parsed : { success: true, data: whole };
}

/**
 * Whether only unknown words are wrong: a newer manager may use a word that this client does not know for a warning, an action or a
 * refusal, which is only shown to a reader. To refuse the whole answer would hide all that is known beside it, as of a thousand tasks of
 * which one is refused. An unknown status stays an error: nobody can decide what to do next with it.
 */
const isOfNewWords = (issues: readonly z.core.$ZodIssue[], value: unknown): boolean =>
  issues.every((issue) => {
    // One of the union's branches was meant; its issues are at paths below the union's.
    if (issue.code === "invalid_union") return issue.errors.some((branch) => isOfNewWords(branch, said(value, issue.path)));
    if (issue.code !== "invalid_value" || issue.values.length < 2 || STEERING.has(issue.path.at(-1))) return false;
    return typeof said(value, issue.path) === "string" && issue.values.every((known) => typeof known === "string");
  });

const said = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((here, step) => (here as Record<PropertyKey, unknown> | undefined)?.[step], value);

const STEERING: ReadonlySet<PropertyKey | undefined> = new Set(["status", "state"]);

const MAX_FLAWS = 5;

/** Writes `items.3.status: Invalid option: …` for each place that does not match the schema. */
function flawsOf({ issues }: z.ZodError): string[] {
  const lines = issues.slice(0, MAX_FLAWS).map(({ path, message }) => `${path.join(".") || "the whole answer"}: ${message}`);
  return issues.length > MAX_FLAWS ? [...lines, `and ${issues.length - MAX_FLAWS} more`] : lines;
}
