import { generationKey, type SendId, type ServiceId } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { TaskNews } from "../../../../domain/tasks/task-words.ts";
import { allInOrder } from "../../../../operations/all-in-order.ts";
import type { SendCreations, TaskLedgerStore } from "../../../../operations/tasks/ledger/task-ledger-store.ts";
import { transact, type Unawaited } from "../../connection/transaction.ts";
import { rethrowRefused } from "../../statements/refused.ts";
import { refusalsOf } from "../task-refusals.ts";
import { takeBackLost } from "./cut-runs.ts";
import { createChildren } from "./task-children.ts";
import { complete, partedEnds } from "./task-completions.ts";
import { completedOf, endRest, isOver, noteEnds } from "./task-ends.ts";
import { endReturned, noteReleases, noteReturns } from "./task-returns.ts";
import { forgetGone, lastSeqs, noteSenders, noteWorkers, poolsBehind } from "./task-senders.ts";
import { failStarted, noteStarts } from "./task-starts.ts";
import { unwantedOf } from "./task-unwanted.ts";

const SEEN = "UPDATE task_proofs SET seen_at = now() WHERE marker_id = ANY($1::uuid[]) AND seen_at IS NULL";

const HELD = `
  UPDATE task_proofs SET answered = array_append(answered, $2), held = held || $3::uuid[]
  WHERE marker_id = $1 AND NOT $2 = ANY(answered)`;

export class PostgresTaskLedgerStore implements TaskLedgerStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  lastSeqs(services: ServiceId[]): Promise<Map<ServiceId, number>> {
    return lastSeqs(this.#dataSource, services);
  }

  async apply(news: TaskNews, creations: Creations = NONE): ReturnType<TaskLedgerStore["apply"]> {
    return await transact(this.#dataSource, (tx, unawaited) => write(tx, unawaited, news, creations)).catch(rethrowRefused);
  }

  forgetGone(limit: number): Promise<number> {
    return forgetGone(this.#dataSource, limit);
  }
}

type Creations = ReadonlyMap<SendId, SendCreations>;
const NONE: Creations = new Map();

/** The statements for all kinds of words are sent together, and done in this order; what depends on the answers comes after. */
async function write(
  tx: EntityManager,
  unawaited: Unawaited,
  news: TaskNews,
  creations: Creations,
): ReturnType<TaskLedgerStore["apply"]> {
  const { words, workers, seen, inventories, running, seqs } = news;
  const numbered = noteSenders(tx, seqs);
  unawaited.add(numbered); // its refusal counts before others
  if (workers.length > 0) unawaited.add(noteWorkers(tx, workers));
  const ends = words.filter(({ end }) => end !== undefined);
  const { plain, others } = partedEnds(ends);
  const returns = words.filter(({ end, returned }) => end === undefined && returned !== undefined);
  const held = words.filter(({ end, returned }) => end === undefined && returned === undefined);
  const starts = held.filter(({ runId }) => runId !== undefined);
  const releases = held.filter(({ runId }) => runId === undefined);
  unawaited.add(takeBackLost(tx, words, others));
  const asked = allInOrder([
    numbered,
    noteStarts(tx, starts),
    noteReturns(tx, returns),
    noteReleases(tx, releases),
    complete(tx, plain),
    noteEnds(tx, others),
    unwantedOf(tx, running),
  ]);
  if (seen.length > 0) unawaited.add(tx.query(SEEN, [seen]));
  for (const { serviceId, generation, markerId, held } of inventories)
    unawaited.add(tx.query(HELD, [markerId, generationKey(serviceId, generation), held]));
  const [rows, started, back, released, completed, changed, stale] = await asked;
  const ended = [...completed.ended, ...changed, ...(await endRest(tx, plain, completed.ended))];
  const { over: failed, unwanted } = await failStarted(tx, starts, started);
  const returned = await endReturned(tx, [...back, ...released]);
  if (creations.size > 0) await createChildren(tx, completedOf(ends, ended, creations));
  unwanted.push(...stale, ...(await refusalsOf(tx, released)));
  const over = [...failed, ...returned, ...ended.filter(isOver)];
  // Ends by hand or by crashes are few: nobody asks whether they are a flow's.
  const hasFlowEnds = failed.length + returned.length > 0 || completed.hasFlowEnds || ended.some(({ isOfFlow }) => isOfFlow);
  return { over, unwanted, hasFlowEnds, behind: poolsBehind(rows, seqs) };
}
