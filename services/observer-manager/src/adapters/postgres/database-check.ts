import { setTimeout as sleep } from "node:timers/promises";
import type { ReadinessCheck } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { describeDatabaseError } from "./database-error.ts";
import { databaseRemedy } from "./database-remedy.ts";

const ANSWER_WITHIN_MS = 2_000;

/** For readiness: does the database answer? Never rejects, never takes longer than 2 s. */
export async function checkDatabase(dataSource: DataSource): Promise<ReadinessCheck> {
  const timer = new AbortController();
  const answer = dataSource.query("SELECT 1").then(
    () => ({ ok: true, detail: "answers" }),
    (error: unknown) => unavailable(describeDatabaseError(error).fields),
  );
  const tooLate = sleep(ANSWER_WITHIN_MS, undefined, { signal: timer.signal }).then(
    () => unavailable({ message: `no answer within ${ANSWER_WITHIN_MS} ms` }),
    () => unavailable({ message: "cancelled" }),
  );
  const check = await Promise.race([answer, tooLate]);
  timer.abort();
  return check;
}

/** @param fields of a described error */
export function unavailable(fields: Record<string, string>): ReadinessCheck {
  return { ok: false, detail: fields["message"] ?? "the query failed", remedy: databaseRemedy(fields) };
}
