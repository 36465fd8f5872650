import type { SendId, TaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { UnwantedSend } from "../../../operations/tasks/unwanted-send.ts";
import { TASK_SERVICE_LIVES } from "./task-services.ts";

/** Services that a message of the pool may come to: a handful of rows. */
const TAKERS = `
  SELECT id AS "serviceId", generation FROM task_services WHERE pool = $1 AND workers > 0 AND ${TASK_SERVICE_LIVES}`;

/** Sends that nobody has begun, as far as was told, and nobody wants: each service that may yet be given the message is to refuse it. */
export async function refusalsOf(
  tx: EntityManager,
  sent: readonly { id: TaskId; pool: string; sendId: SendId }[],
): Promise<UnwantedSend[]> {
  const refuse: UnwantedSend[] = [];
  for (const pool of new Set(sent.map((task) => task.pool)))
    for (const taker of await tx.query<Pick<UnwantedSend, "serviceId" | "generation">[]>(TAKERS, [pool]))
      for (const { id, sendId } of sent.filter((task) => task.pool === pool)) refuse.push({ ...taker, taskId: id, sendId });
  return refuse;
}
