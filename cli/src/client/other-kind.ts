import { CliFailure } from "../failure.ts";
import type { Caller } from "./caller.ts";
import { findJob, type Job } from "./find-job.ts";

const REMEDIES: Record<Job["kind"], (id: string) => string> = {
  task: (id) => `See: unacked describe task ${id}; to wait for its end: unacked wait ${id}; to end it: unacked cancel ${id}`,
  flow: (id) =>
    `See: unacked flow show ${id}; to wait for its end: unacked wait ${id}; to end it: unacked flow cancel ${id}`,
};

/** The failure of a call. Where no observer has this id, but a task or flow has, it says so, with the commands that take it. */
export async function tellOtherKind(api: Caller, failure: CliFailure, ref: string): Promise<CliFailure> {
  if (failure.code !== "observer-not-found") return failure;
  const job = await findJob(api, ref).catch(() => undefined); // a better word is worth no second failure
  if (job === undefined) return failure;
  const { exitKind, code, isRefusal } = failure;
  return new CliFailure(exitKind, `${ref} is a ${job.kind}, and no observer`, {
    code,
    isRefusal,
    remedy: REMEDIES[job.kind](ref),
    cause: failure,
  });
}
