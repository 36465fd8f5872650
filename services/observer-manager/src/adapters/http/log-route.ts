import { LOG_EVENTS, ObserverLogs, RunId } from "@unacked/contracts";
import { z } from "zod";
import type { LogPosition, LogStream, LogTools } from "../../flows/manager-api.ts";
import { answer } from "./call-description.ts";
import { LOG_STREAM, LOGS, NO_LOGS } from "./examples/log-examples.ts";
import { flag, limitFrom } from "./query-fields.ts";
import { defineRoute } from "./route.ts";

const DESCRIPTION =
  "A service keeps about 100 lines and 20 emitted values of a run, in memory: an answer is as it says, and of nothing else. Without a " +
  "run the list is empty, and `reason` says why.\n\n" +
  "With `follow` server-sent events, until the observer is over:\n\n" +
  "- `run`: what follows was said by this run; again whenever the observer has moved\n" +
  "- `entry`: a line, or an emitted value. Its `id`, sent as `Last-Event-ID`, goes on from there, at any manager\n" +
  "- `omitted`: so many were said that are not kept any more\n" +
  "- `waiting`: nothing can be had just now, and why; the stream goes on asking\n" +
  "- `end`: nothing more will come";

export const logRoute = (logs: LogTools) =>
  defineRoute({
    ...{
      method: "get",
      path: "/api/v1/observers/{ref}/logs",
      tag: "Observers",
      operationId: "getLogs",
      summary: "What it logged and emitted last, asked of the service that runs it, or ran it last",
      description: DESCRIPTION,
    },
    access: "viewer",
    query: z.strictObject({
      follow: flag.describe("go on with what it says from now on, as server-sent events"),
      limit: limitFrom(0).describe("the newest so many"),
    }),
    headers: z.object({
      "Last-Event-ID": z.string().optional().describe("with `follow`: the `id` of the last entry received"),
    }),
    answers: {
      200: answer("The newest entries, and why there are none", ObserverLogs, {
        "It runs": LOGS,
        "It has not run yet": NO_LOGS,
      }),
    },
    events: LOG_EVENTS,
    eventExamples: { "As it begins": LOG_STREAM },
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
