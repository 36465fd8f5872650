import { CALLS, type Call, type CallName, CHANGE_EVENTS, LOG_EVENTS, ProblemDetails } from "@unacked/contracts";
import { z } from "zod";
import { CallError } from "./call-error.ts";
import { answerIn, bodyOf, type Decoder, refusalOf, type StreamName } from "./decoder.ts";
import { withWhatIsAbsent } from "./older-answers.ts";

const AnyProblem = ProblemDetails.extend({ code: z.string() });
const EVENTS: Record<StreamName, Readonly<Record<string, z.ZodType>>> = {
  followChanges: CHANGE_EVENTS,
  getLogs: LOG_EVENTS,
};

/** Holds everything against the contracts. */
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
  problem: (body) => AnyProblem.safeParse(body).data,
};

/** A good status that the contracts do not have for this call is answered like the others. */
function schemaOf(name: CallName, status: number): z.ZodType {
  const { answers }: Call = CALLS[name];
  return answers[status] ?? Object.values(answers)[0] ?? z.undefined();
}

function checked(schema: z.ZodType, value: unknown, request: string): unknown {
  const asSaid = schema.safeParse(value);
  if (asSaid.success) return asSaid.data;
  const whole = withWhatIsAbsent(schema, value);
  const parsed = schema.safeParse(whole);
  if (parsed.success) return parsed.data;
  if (parsed.error.issues.every((issue) => isNewWord(issue, whole))) return whole;
  throw new CallError("misshapen", `${request} answered with something else than this program expects`, {
    request,
    flaws: flawsOf(parsed.error),
    cause: parsed.error,
  });
}

/**
 * A newer manager may say a word that this client does not know yet where it says one of several: a warning, an action, a reason. Whoever
 * reads it shows it; without this one such warning would cost them all that is known beside it. Of a status it is decided what to do next,
 * which nobody can of one that they do not know.
 */
function isNewWord({ path, ...issue }: z.core.$ZodIssue, value: unknown): boolean {
  if (issue.code !== "invalid_value" || issue.values.length < 2 || STEERING.has(path.at(-1))) return false;
  const said = path.reduce<unknown>((here, step) => (here as Record<PropertyKey, unknown> | undefined)?.[step], value);
  return typeof said === "string" && issue.values.every((known) => typeof known === "string");
}

const STEERING: ReadonlySet<PropertyKey | undefined> = new Set(["status", "state"]);

const MAX_FLAWS = 5;

/** `items.3.status: Invalid option: …` for each place that is not as the schema has it. */
function flawsOf({ issues }: z.ZodError): string[] {
  const lines = issues.slice(0, MAX_FLAWS).map(({ path, message }) => `${path.join(".") || "the whole answer"}: ${message}`);
  return issues.length > MAX_FLAWS ? [...lines, `and ${issues.length - MAX_FLAWS} more`] : lines;
}
