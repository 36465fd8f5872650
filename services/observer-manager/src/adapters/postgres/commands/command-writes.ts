import type { EntityManager } from "typeorm";
import type { Books } from "../../../domain/books/books.ts";
import type { Command, CommandKey } from "../../../domain/books/command.ts";
import { allInOrder } from "../../../operations/all-in-order.ts";
import { recordUnknownRuns } from "../observers/unknown-runs.ts";
import { GivenRows } from "../statements/given-rows.ts";

/** Kinds that are said to one connection of a service: the predicate of the index commands_one_per_generation, word for word. */
export const TO_A_GENERATION = "'report-inventory', 'probe', 'drain', 'cordon', 'uncordon', 'step-aside', 'reload'";

/**
 * Stands behind an INSERT into `commands` of such a kind. There is one for each connection: if it is asked for again, it is sent again at
 * once. More columns may be set behind this. Index: commands_one_per_generation.
 */
export const OR_SEND_AGAIN = `ON CONFLICT (service_id, generation, kind) WHERE kind IN (${TO_A_GENERATION})
  DO UPDATE SET due_at = now(), claim_id = NULL, claimed_at = NULL`;

/** Index: commands_one_per_observer. */
const FORGET_ALL_OF_OBSERVERS = "DELETE FROM commands WHERE kind IN ('start', 'stop') AND observer_id = ANY($1)";

/**
 * Each arm repeats the predicate of an index: commands_one_per_run, commands_one_of_admission, commands_one_move, commands_one_of_update.
 */
const FORGET_ALL_OF_RUNS = `
  DELETE FROM commands
  WHERE kind IN ('stop-run', 'restart-run') AND run_id = ANY($1)
     OR kind IN ('admit', 'tell-checkpoint') AND run_id = ANY($1)
     OR kind = 'move-run' AND run_id = ANY($1)
     OR kind = 'update-run' AND run_id = ANY($1)`;

/*
 * Deletes one kind at a time, by a list of ids, and not by a join: the table is empty one moment and holds thousands of rows
 * the next. A vacuum that found it empty lets PostgreSQL plan a join for one row, as a loop through all of both sides.
 */

/** Index: commands_one_per_observer, which only a plan for this very kind can use: these two are not prepared. */
const FORGET_BY_OBSERVER = "DELETE FROM commands WHERE kind = $1 AND observer_id = ANY($2)";

/** Index: commands_one_per_run. */
const FORGET_BY_RUN = "DELETE FROM commands WHERE kind = $1 AND run_id = ANY($2)";

/** Index: commands_one_per_generation. */
const FORGET_BY_GENERATION = `
  DELETE FROM commands c USING unnest($1::text[], $2::uuid[], $3::int[]) AS u (kind, service_id, generation)
  WHERE c.kind IN (${TO_A_GENERATION}) AND c.kind = u.kind
    AND c.service_id = u.service_id AND c.generation = u.generation`;

const WANTED = new GivenRows<Command>({
  kind: ["text", (c) => c.kind],
  observer_id: ["uuid", (c) => ("observerId" in c ? c.observerId : null)],
  revision: ["int", (c) => ("revision" in c ? c.revision : null)],
  service_id: ["uuid", (c) => ("serviceId" in c ? c.serviceId : null)],
  generation: ["int", (c) => ("generation" in c ? c.generation : null)],
  run_id: ["uuid", (c) => ("runId" in c ? c.runId : null)],
  message_id: ["uuid", messageIdOf],
  reason: ["text", (c) => ("reason" in c ? c.reason : null)],
  delay_ms: ["float8", (c) => ("delayMs" in c ? c.delayMs : 0)],
});
const KEPT = WANTED.names(["delay_ms"]);
/** All get the same trace, $10. */
const INSERT = `
  INSERT INTO commands (${KEPT}, due_at, trace_context)
  SELECT ${KEPT}, now() + delay_ms * interval '1 millisecond', $10::text FROM ${WANTED.from()}`;

/**
 * Writes wanted commands and removes forgotten ones. A wanted one replaces its predecessor and is due at once. The unique
 * indexes of `commands` hold "one of a key"; the writer of a command has locked its observer or service first.
 */
export async function writeCommands(
  tx: EntityManager,
  {
    commands,
    quietObservers,
    quietRuns,
    traceContext,
  }: Pick<Books, "commands" | "quietObservers" | "quietRuns" | "traceContext">,
): Promise<void> {
  const changes = [...commands.values()];
  const keys = changes.map((change): CommandKey => ("want" in change ? change.want : change.forget));
  const wanted = changes.flatMap((change) => ("want" in change ? [change.want] : []));
  const columnsOfWanted = [...WANTED.of(wanted), traceContext ?? null];
  // They are sent together, and done in this order.
  await allInOrder([
    quietObservers.size > 0 && tx.query(FORGET_ALL_OF_OBSERVERS, [[...quietObservers]]),
    quietRuns.size > 0 && tx.query(FORGET_ALL_OF_RUNS, [[...quietRuns]]),
    ...forget(tx, keys),
    ...(wanted.length === 0
      ? []
      : [tx.query(INSERT, columnsOfWanted), recordUnknownRuns(tx, wanted), tx.query("NOTIFY unacked_commands")]),
  ]);
}

function forget(tx: EntityManager, keys: CommandKey[]): Promise<unknown>[] {
  const byObserver = new Map<string, string[]>();
  const byRun = new Map<string, string[]>();
  const byGeneration: (readonly [string, string, number])[] = [];
  for (const key of keys) {
    if ("runId" in key) addTo(byRun, key.kind, key.runId);
    else if ("serviceId" in key) byGeneration.push([key.kind, key.serviceId, key.generation]);
    else addTo(byObserver, key.kind, key.observerId);
  }
  return [
    ...[...byObserver].map((of) => tx.query(FORGET_BY_OBSERVER, of)),
    ...[...byRun].map((of) => tx.query(FORGET_BY_RUN, of)),
    ...(byGeneration.length > 0 ? [tx.query(FORGET_BY_GENERATION, columns(byGeneration))] : []),
  ];
}

function addTo(idsByKind: Map<string, string[]>, kind: string, id: string): void {
  const ids = idsByKind.get(kind);
  if (ids === undefined) idsByKind.set(kind, [id]);
  else ids.push(id);
}

const columns = (rows: (readonly unknown[])[]): unknown[][] => (rows[0] ?? []).map((_, i) => rows.map((row) => row[i]));

/** For a reload this is the id of the load that is asked for. */
function messageIdOf(command: Command): string | null {
  if (command.kind === "reload") return command.reloadId;
  return "messageId" in command ? command.messageId : null;
}
