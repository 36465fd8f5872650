import { ObserverLogs, RunId } from "@unacked/contracts";
import { z } from "zod";
import type { LogPosition, LogStream, LogTools } from "../../flows/manager-api.ts";
import { flag, limitFrom } from "./query-fields.ts";
import { defineRoute } from "./route.ts";

const EVENTS =
  "With `follow`: server-sent events until the observer is over. `run`: what follows was said by this run; again whenever the observer " +
  "has moved. `entry`: a LogEntry; its `id` is a place to go on from (Last-Event-ID). `omitted` `{count}`: so many are not kept any more. " +
  "`waiting` `{status, reason}`: nothing can be had just now; the stream goes on asking. `end` `{status}`: nothing more will come.";

export const logRoute = (logs: LogTools) =>
  defineRoute({
    ...{
      method: "get",
      path: "/api/v1/observers/{ref}/logs",
      operationId: "getLogs",
      summary: "What an observer logged and emitted last, asked of the service that runs it (or ran it last)",
    },
    query: z.strictObject({
      follow: flag.describe("go on with what it says from now on, as server-sent events"),
      limit: limitFrom(0).describe("the newest so many; a service keeps about 100 lines and 20 emitted values of a run"),
    }),
    answers: { 200: { description: "The newest entries, and why there are none", schema: ObserverLogs } },
    events: EVENTS,
    problems: ["observer-not-found", "logs-unavailable"],
    async handle({ ref, query: { follow, limit }, lastEventId }) {
      if (!follow) {
        const outcome = await logs.readLogs(ref, { limit });
        return outcome.kind === "problem" ? outcome : { status: 200, body: outcome.logs };
      }
      const stream = await logs.followLogs(ref, { limit, after: placeOf(lastEventId) });
      if (stream.kind === "problem") return stream;
      return { events: (signal) => withIds(stream.events(signal)) };
    },
  });

async function* withIds(events: ReturnType<LogStream["events"]>) {
  for await (const { after, ...event } of events) yield after === undefined ? event : { ...event, id: textOf(after) };
}

const textOf = ({ runId, seq }: LogPosition): string => `${runId}.${seq}`;

/** A place that is none is that of a client which has seen nothing. */
function placeOf(id: string | undefined): LogPosition | undefined {
  const [, run, seq] = /^([0-9a-f-]{36})\.([0-9]{1,15})$/i.exec(id ?? "") ?? [];
  const runId = RunId.safeParse(run);
  return runId.success ? { runId: runId.data, seq: Number(seq) } : undefined;
}
