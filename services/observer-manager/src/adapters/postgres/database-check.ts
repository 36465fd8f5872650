import { setTimeout as sleep } from "node:timers/promises";
import type { ReadinessCheck } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { describeDatabaseError } from "./database-error.ts";

const ANSWER_WITHIN_MS = 2_000;

/** For readiness: does the database answer? Never rejects, never takes longer than 2 s. */
export async function checkDatabase(dataSource: DataSource): Promise<ReadinessCheck> {
  const timer = new AbortController();
  const answer = dataSource.query("SELECT 1").then(
    () => ({ ok: true, detail: "answers" }),
    (error: unknown) => unavailable(describeDatabaseError(error).fields["message"] ?? "the query failed"),
  );
  const tooLate = sleep(ANSWER_WITHIN_MS, undefined, { signal: timer.signal }).then(
    () => unavailable(`no answer within ${ANSWER_WITHIN_MS} ms`),
    () => unavailable("cancelled"),
  );
  const check = await Promise.race([answer, tooLate]);
  timer.abort();
  return check;
}

function unavailable(detail: string): ReadinessCheck {
  return { ok: false, detail, remedy: "Start PostgreSQL, or check DATABASE_URL; the manager connects again by itself." };
}
