import type { ObserverId, RunId, ServiceId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { Books } from "../../../domain/books/books.ts";
import { InventoryParts } from "../../../domain/books/inventory-parts.ts";
import type { ObserverBook } from "../../../domain/books/observer-book.ts";
import type { ReceivedMessage } from "../../../domain/books/received-message.ts";
import type { RunBook } from "../../../domain/books/run-book.ts";
import { allInOrder } from "../../../operations/all-in-order.ts";
import { writeCommands } from "../commands/command-writes.ts";
import { GIVEN_BACK, QUEUE_MARKER_SEEN } from "../observers/proof-store.ts";
import { addRunFigures } from "../observers/run-figures.ts";
import { writeCheckpoints } from "./checkpoint-writes.ts";
import { lockObservers, lockObserversLike, observersToWrite } from "./observer-rows.ts";
import { readRuns, runsToWrite } from "./run-rows.ts";
import { findNamesakes, findObserversOn, lockServices, servicesToWrite } from "./service-rows.ts";

/** Loads and locks every row that these messages can touch. */
export async function loadBooks(
  tx: EntityManager,
  messages: ReceivedMessage[],
  inventories: InventoryParts,
): Promise<Books> {
  const books = new Books(inventories);
  const named = idsNamedIn(messages);
  const isOfWhole = named.wholeServices.length > 0;
  // All are asked for at once, and locked in this order.
  const [services, namesakes, onServices, rows] = await allInOrder([
    lockServices(tx, named.services),
    named.bornNames.length > 0 ? findNamesakes(tx, named.bornNames, named.services) : [],
    isOfWhole ? findObserversOn(tx, named.wholeServices) : [],
    isOfWhole ? undefined : lockWithRuns(tx, named),
  ]);
  for (const service of services) books.services.set(service.id, service);
  books.namesakes.push(...namesakes);
  for (const { id } of onServices) named.observers.add(id);
  addRows(books, rows ?? (await lockWithRuns(tx, named)));
  return books;
}

/** Observers with their current runs, for what a client asks for. */
export async function loadObserverBooks(tx: EntityManager, ids: ObserverId[], inventories: InventoryParts): Promise<Books> {
  const books = new Books(inventories);
  addRows(books, await lockWithRuns(tx, { observers: new Set(ids) }));
  return books;
}

/** The same for the observers that match `like` (lockObserversLike). */
export async function loadObserverBooksLike(tx: EntityManager, like: string, parameters: unknown[]): Promise<Books> {
  const books = new Books(new InventoryParts());
  const observers = await lockObserversLike(tx, like, parameters);
  addRows(books, [observers, await currentRunsOf(tx, observers)]);
  return books;
}

type Rows = [observers: ObserverBook[], runs: RunBook[]];

/**
 * Also reads the named runs, asked for right behind the locks, and the runs that the locked rows name. For what a service tells these are
 * mostly the same, and nothing more is asked. Runs are read by given ids, not by a join with the rows: a plan made for an empty table would
 * search the list of ids for each run.
 */
async function lockWithRuns(
  tx: EntityManager,
  named: { observers: Set<ObserverId>; runs?: Set<RunId>; wholeServices?: ServiceId[] },
): Promise<Rows> {
  const { runs: namedRuns = new Set(), wholeServices = [] } = named;
  if (named.observers.size === 0) return [[], []];
  const [observers, runs] = await allInOrder([
    lockObservers(tx, [...named.observers]),
    readRuns(tx, [...namedRuns], wholeServices),
  ]);
  const asked = new Set([...namedRuns, ...runs.map(({ id }) => id)]);
  return [observers, [...runs, ...(await currentRunsOf(tx, observers, asked))]];
}

/** Leaves out the runs that were asked for already. */
function currentRunsOf(
  tx: EntityManager,
  observers: ObserverBook[],
  asked: ReadonlySet<RunId> = new Set(),
): Promise<RunBook[]> {
  const ids = observers.flatMap(({ currentRunId, requestedRunId }) => [currentRunId, requestedRunId]);
  return readRuns(tx, ids.filter((id) => id !== null && !asked.has(id)) as RunId[], []);
}

function addRows(books: Books, [observers, runs]: Rows): void {
  for (const row of observers) books.observers.set(row.id, row);
  for (const row of runs) books.runs.set(row.id, row);
}

function idsNamedIn(messages: ReceivedMessage[]) {
  const services = new Set<ServiceId>();
  const wholeServices = new Set<ServiceId>();
  const observers = new Set<ObserverId>();
  const runs = new Set<RunId>();
  const bornNames = new Set<string>();
  for (const message of messages) {
    services.add(message.serviceId);
    if (message.kind === "DeathCertificate") {
      wholeServices.add(message.serviceId);
      continue;
    }
    for (const event of message.events) {
      if ("observerId" in event) observers.add(event.observerId);
      if ("runId" in event) runs.add(event.runId);
      if (event.kind === "DuplicateDropped") runs.add(event.keptRunId);
      if (event.kind === "ServiceBorn") bornNames.add(message.serviceName);
      if (event.kind === "ServiceDied" || event.kind === "Inventory") wholeServices.add(message.serviceId);
      if (event.kind !== "Inventory") continue;
      for (const run of event.runs) {
        observers.add(run.observerId);
        runs.add(run.runId);
      }
    }
  }
  return { services: [...services], wholeServices: [...wholeServices], observers, runs, bornNames: [...bornNames] };
}

/** Whether a statement depends on the answer to another. Otherwise all are sent in one turn. */
export const needsAnswers = ({ startedSavers }: Books): boolean => startedSavers.size > 0;

/** Sends a few statements for each table, however many events there were: together, and done in this order. */
export async function writeBooks(tx: EntityManager, books: Books): Promise<void> {
  const rows = rowsToWrite(books).map(([text, values]) => tx.query(text, values));
  const checkpoints = writeCheckpoints(tx, books);
  const others = () => [
    addRunFigures(tx, books.figures.rows()),
    writeCommands(tx, books),
    books.changedServices.size + books.changedObservers.size > 0 && tx.query("NOTIFY unacked_changes"),
  ];
  if (!needsAnswers(books)) return void (await allInOrder([...rows, checkpoints, ...others()]));
  await allInOrder([...rows, checkpoints]);
  await allInOrder(others());
}

/** All rows are turned into columns before the first statement is sent. */
function rowsToWrite(books: Books): [text: string, values: unknown[]][] {
  const { changedServices, changedRuns, changedObservers, markersSeen, givenBack } = books;
  const rows: [string, unknown[]][] = [];
  rows.push(...servicesToWrite([...changedServices]));
  if (changedRuns.size > 0) rows.push(runsToWrite([...changedRuns]));
  if (changedObservers.size > 0) rows.push(observersToWrite([...changedObservers], books.runs));
  if (markersSeen.size > 0) rows.push([QUEUE_MARKER_SEEN, [[...markersSeen]]]);
  const givenBackColumns = [
    givenBack.map((one) => one.markerId),
    givenBack.map((one) => one.observerId),
    givenBack.map((one) => one.agoMs),
  ];
  if (givenBack.length > 0) rows.push([GIVEN_BACK, givenBackColumns]);
  return rows;
}
