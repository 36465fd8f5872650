import {
  CreateObserver,
  type Decoded,
  decodeBody,
  findJsonFlaws,
  ObserverName,
  ReportedStart,
  type ServiceId,
  toPointer,
} from "@unacked/contracts";
import { type Action, newAction } from "../access/audit.ts";
import type { BooksTransaction, NewError, UnknownRun } from "../books/books-store.ts";
import type { Refusal } from "../refusal.ts";
import { type Candidate, createTogether } from "./create-together.ts";
import { keepPlaces } from "./kept-places.ts";
import { contentOf, type NewObserver } from "./new-observer.ts";
import type { CreateOutcome } from "./observer-tools.ts";

/** An observer that the books do not have, as the message says that its run was given. */
export interface LostObserver {
  start: ReportedStart;
  /** What a client would have to ask for to have it. */
  request: CreateObserver;
  /** The observer as it will stand in the books: with a higher revision than any message of it. */
  observer: NewObserver;
}

/** Reads a message as if it were a client's request: its writer may not do more by it than a client. */
export function readLostObserver(body: string): Decoded<LostObserver> {
  const decoded = decodeBody(ReportedStart, Buffer.from(body));
  if (!decoded.ok) return decoded;
  const start = decoded.value;
  const { observerId: id, params, labels } = start;
  const [flaw] = findJsonFlaws({ params, labels });
  if (flaw) return { ok: false, reason: `${toPointer(flaw.path)}: ${flaw.message}` };
  const request = CreateObserver.safeParse({ id, ...contentOf(start), whenFull: "queue" });
  if (!request.success) return { ok: false, reason: request.error.issues.map(({ message }) => message).join("; ") };
  const createdAt = new Date(start.createdAt);
  if (Number.isNaN(createdAt.getTime())) return { ok: false, reason: "/createdAt: no time" };
  const observer = {
    id,
    ...contentOf(start),
    revision: start.revision + 1,
    specVersion: start.specVersion ?? 1,
    createdAt: createdAt.toISOString(),
  };
  return { ok: true, value: { start, request: request.data, observer } };
}

/** A lost observer whose report is believed: the order to stop that run stands in these books. */
export interface Reported extends LostObserver {
  report: NewError;
  order: UnknownRun;
}

/** What came of it: the names under which observers were recorded, and what was put to the errors. */
export interface TakenBack {
  names: string[];
  entries: NewError[];
}

/**
 * Records lost observers as a create would, one entry of the audit trail a service. One whose name is another observer's in
 * these books was accepted once and goes on under a name of its own: an entry of the errors says which it is and whose its
 * name is. One that is there already (a report that comes again) is left alone.
 */
export async function takeBack(tx: BooksTransaction, reported: Reported[]): Promise<TakenBack> {
  const there = await tx.viewObservers(reported.map(({ observer }) => observer.id));
  const lost = newestOfEach(reported).filter(({ observer }) => !there.has(observer.id));
  const candidateOf = candidates();
  const outcomes = await createTogether(tx, lost.map(candidateOf));
  const nameless = lost.filter((_, i) => isNameTaken(outcomes[i]));
  const renamed = await createTogether(tx, nameless.map(underItsOwnName).map(candidateOf));
  await keepPlaces(tx, [...startsOf(lost, outcomes), ...startsOf(nameless, renamed)]);
  const entries = [
    ...lost.flatMap((one, i) => (isNameTaken(outcomes[i]) ? [] : refusedEntry(one, outcomes[i]))),
    ...nameless.flatMap((one, i) => refusedEntry(one, renamed[i])),
    ...(await otherNameEntries(tx, nameless, renamed)),
  ];
  await tx.recordErrors(entries);
  return { names: [...outcomes, ...renamed].flatMap((one) => (one.kind === "created" ? [one.observer.name] : [])), entries };
}

const startsOf = (created: Reported[], outcomes: CreateOutcome[]): ReportedStart[] =>
  created.flatMap(({ start }, i) => (outcomes[i]?.kind === "created" ? [start] : []));

export const notTakenBack = (report: NewError, why: string): NewError => ({
  ...report,
  detail: `not taken back: ${why} (${report.detail})`.slice(0, 16_384),
});

function refusalText({ code, detail, errors = [] }: Refusal): string {
  const where = errors.map(({ pointer, message }) => `${pointer ?? ""}: ${message}`);
  return [code, ...(detail === undefined ? [] : [detail]), ...where].join(", ");
}

/** Two runs of one observer were stopped: the message of the higher revision is the later one. */
function newestOfEach(reported: Reported[]): Reported[] {
  const newest = new Map<string, Reported>();
  for (const one of reported) {
    const other = newest.get(one.observer.id);
    if (!other || isNewer(one.start, other.start)) newest.set(one.observer.id, one);
  }
  return [...newest.values()];
}

/** Where one message went to two services, the run that was admitted later, or at all, knows where it had got to. */
const isNewer = (one: ReportedStart, other: ReportedStart): boolean =>
  one.revision > other.revision || (one.revision === other.revision && (one.fencingToken ?? 0) > (other.fencingToken ?? 0));

/** Makes one action a service, however many of its observers are taken back. */
function candidates(): (one: Reported) => Candidate {
  const actions = new Map<ServiceId, Action>();
  return ({ request, observer, report, order }) => {
    const action = actions.get(order.serviceId) ?? newAction("observer.take-back", actorOf(order, report));
    actions.set(order.serviceId, action);
    return { request, observer, action };
  };
}

const actorOf = ({ serviceId, serviceName }: UnknownRun, { messageId, runId }: NewError): Action["by"] => ({
  name: serviceName,
  role: "operator",
  authentication: "broker",
  address: serviceId,
  requestId: messageId ?? runId ?? "",
});

const isNameTaken = (outcome: CreateOutcome | undefined): boolean =>
  outcome?.kind === "problem" && outcome.code === "name-taken";

const refusedEntry = ({ report }: Reported, outcome: CreateOutcome | undefined): NewError[] =>
  outcome?.kind === "problem" ? [notTakenBack(report, refusalText(outcome))] : [];

const LONGEST_NAME = 128;

/** The end of its id tells it from the other of that name. */
function underItsOwnName(one: Reported): Reported {
  const ending = `-${one.observer.id.slice(-8)}`;
  const name = ObserverName.parse(one.observer.name.slice(0, LONGEST_NAME - ending.length) + ending);
  return { ...one, request: { ...one.request, name }, observer: { ...one.observer, name } };
}

async function otherNameEntries(tx: BooksTransaction, nameless: Reported[], outcomes: CreateOutcome[]): Promise<NewError[]> {
  const renamed = nameless.flatMap(({ observer, report }, i) => {
    const outcome = outcomes[i];
    return outcome?.kind === "created" ? [{ report, id: observer.id, was: observer.name, is: outcome.observer.name }] : [];
  });
  if (renamed.length === 0) return [];
  const { books, ids } = await tx.loadObservers(renamed.map(({ was }) => ({ kind: "name", name: was })));
  return renamed.map(({ report, id, was, is }, i) => {
    const owner = ids[i];
    const status = owner === undefined ? undefined : books.observers.get(owner)?.status;
    const whose = owner === undefined ? "another observer" : `the observer ${owner} (${status})`;
    const detail = `taken back under another name: the observer ${id} runs on as ${is}, since in these books its name ${was} belongs to ${whose}; stop the one that is not wanted`;
    return { ...report, detail };
  });
}
