import type { AnyProblem, CallError } from "@unacked/client";
import type { FieldProblem, ObserverView } from "@unacked/contracts";
import { CliFailure, type ExitKind } from "../failure.ts";
import { remedyOf } from "./own-remedies.ts";

/**
 * The exit kinds of problems; others are `failed`. `unreachable` means that the request itself was right: try again later.
 */
const EXIT_KINDS: Partial<Record<string, ExitKind>> = {
  "not-ready": "unreachable",
  "database-unavailable": "unreachable",
  "identity-provider-unavailable": "unreachable",
  "logs-unavailable": "unreachable",
  "too-many-requests": "unreachable",
  unauthorized: "notAllowed",
  forbidden: "notAllowed",
};

/**
 * Makes one failure of a problem: what and why in a line, the fields below it, and the remedy. `about` names what it was
 * about.
 */
export function problemFailure(problem: AnyProblem, about?: string): CliFailure {
  const subject = about === undefined ? "" : `${about}: `;
  return new CliFailure(EXIT_KINDS[problem.code] ?? "failed", `${subject}${whatOf(problem)}`, {
    code: problem.code,
    details: [
      ...(problem.errors ?? []).map(fieldLine),
      ...knownTypesLine(problem.knownTypes),
      ...(problem.differs ?? []).map(differsLine),
    ],
    remedy: remedyOf(problem),
    isRefusal: problem.status < 500,
  });
}

/** Of these the detail says all that the title does, and of which pool or type. */
const DETAIL_SAYS_ALL: ReadonlySet<string> = new Set(["unknown-type", "pool-not-served", "no-free-worker"]);

/** Title and detail, where each says something of its own. */
const whatOf = ({ code, title, detail }: AnyProblem): string =>
  detail === title || DETAIL_SAYS_ALL.has(code) ? detail : `${title}: ${detail}`;

function fieldLine({ pointer, parameter, message }: FieldProblem): string {
  const place = parameter ?? (pointer === "" ? "the whole body" : pointer);
  return place === undefined ? message : `${place}: ${message}`;
}

const differsLine = ({ field, now, given }: NonNullable<AnyProblem["differs"]>[number]): string =>
  `${field}: it is ${JSON.stringify(now)} now, ${JSON.stringify(given)} was given`;

const knownTypesLine = (types: string[] | undefined): string[] =>
  types === undefined ? [] : [types.length === 0 ? "no type is known in that pool" : `known types: ${types.join(", ")}`];

/** Says why a call failed, as one of our failures. `about` names what it was about. */
export function failureOf(error: CallError, url: string, about?: string): CliFailure {
  const { kind, message, problem, flaws } = error;
  switch (kind) {
    case "refused":
      return problem === undefined ? new CliFailure("failed", message) : problemFailure(problem, about);
    case "unreachable":
    case "timed-out":
      return new CliFailure("unreachable", `Cannot reach the manager at ${url}: ${message}`, {
        remedy: remedyOfWire(url, message),
        cause: error,
      });
    case "redirected":
      return new CliFailure("unexpectedAnswer", message, { remedy: "Use that address." });
    case "not-unacked":
      if (error.isPassing)
        return new CliFailure("unreachable", `Cannot reach the manager at ${url}: ${message}`, {
          remedy: "A proxy in front of it may have answered. Is the manager running? Try again later.",
          cause: error,
        });
      return new CliFailure("unexpectedAnswer", message, { remedy: "Check the address: unacked config view", cause: error });
    case "misshapen":
      return new CliFailure("unexpectedAnswer", message, {
        details: flaws,
        remedy: "Do the manager and the command line have the same version?",
        cause: error,
      });
    case "aborted":
      return new CliFailure("interrupted", message, { cause: error });
    default:
      return kind satisfies never;
  }
}

/** The outcome for one observer of a bulk call: the observer, or why it was refused. */
export const outcomeOf = (result: BulkResult, name: string): ObserverView | CliFailure =>
  "observer" in result ? result.observer : problemFailure(result.problem, `observer ${name}`);

/** One line of a bulk call's answer. */
export type BulkResult = { observer: ObserverView } | { problem: AnyProblem };

const ADDRESS_REMEDY =
  "Is it running, and is this its address? Set it with --url, UNACKED_URL or `unacked config set-context`.";

const TLS_REMEDIES: [RegExp, string][] = [
  [
    /self-signed certificate|unable to (verify|get)/i,
    "Give the certificate of the authority that signed its certificate: --certificate-authority FILE (PEM).",
  ],
  [
    /alert|other side closed|ECONNRESET/, // a refused certificate looks like this, as TLS 1.3 refuses it only after its handshake
    "If it asks for a certificate, give one that it trusts, by --client-certificate FILE and --client-key FILE (PEM).",
  ],
];

const remedyOfWire = (url: string, why: string): string =>
  TLS_REMEDIES.find(([pattern]) => url.startsWith("https:") && pattern.test(why))?.[1] ?? ADDRESS_REMEDY;
