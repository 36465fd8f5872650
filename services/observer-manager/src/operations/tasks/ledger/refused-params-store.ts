import type { SendId, TaskId } from "@unacked/contracts";
import type { AlikeServices, RefusedTask, VersionOfType } from "../../../domain/tasks/turned-away.ts";

/** What is looked at where a service refuses params, in the database. No call leaves a transaction open; all reject while it is away. */
export interface RefusedParamsStore {
  /** Services of a pool, also those that have gone an hour or two ago. */
  services(pool: string): Promise<Announced[]>;
  /** Of these sends, those that are current, of one of these types, and neither cancelled nor behind newer params. */
  tasks(sends: { taskId: TaskId; sendId: SendId }[], types: string[]): Promise<(RefusedTask & { sendId: SendId })[]>;
}

/** Services as they say that they are. */
export type Announced = Omit<AlikeServices, "types"> & { types: readonly Omit<VersionOfType, "version">[] };
