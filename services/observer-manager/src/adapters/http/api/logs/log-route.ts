import { RunId } from "@unacked/contracts";
import type { LogPosition, LogStream, LogTools } from "../../../../operations/logs/log-tools.ts";
import { LOG_STREAM, LOGS, NO_LOGS } from "../../openapi/examples/log-examples.ts";
import { defineRoute } from "../route.ts";

const DESCRIPTION =
  "A service keeps about 100 lines and 20 emitted values of a run, in memory: an answer is as it says, and of nothing else. Without a " +
  "run the list is empty, and `reason` says why.\n\n" +
  "With `follow` server-sent events, until the observer is over:\n\n" +
  "- `run`: what follows was said by this run; again whenever the observer has moved\n" +
  "- `entry`: a line, or an emitted value. Its `id`, sent as `Last-Event-ID`, goes on from there, at any manager\n" +
  "- `omitted`: so many were said that are not there: not kept any more, or dropped as there were too many\n" +
  "- `waiting`: nothing can be had just now, and why; the stream goes on asking\n" +
  "- `end`: nothing more will come";

export const logRoute = (logs: LogTools) =>
  defineRoute("getLogs")({
    tag: "Observers",
    summary: "What it logged and emitted last, asked of the service that runs it, or ran it last",
    description: DESCRIPTION,
    answers: {
      200: {
        description: "The newest entries, and why there are none",
        examples: {
          "It runs": LOGS,
          "It has not run yet": NO_LOGS,
        },
      },
    },
    eventExamples: { "As it begins": LOG_STREAM },
    async handle({ ref, query: { follow, limit }, lastEventId, by }) {
      if (!follow) {
        const outcome = await logs.readLogs(ref, { limit });
        return outcome.kind === "problem" ? outcome : { status: 200, body: outcome.logs };
      }
      const stream = await logs.followLogs(ref, { limit, after: placeOf(lastEventId) }, by);
      if (stream.kind === "problem") return stream;
      return { events: (signal) => withIds(stream.events(signal)) };
    },
  });

async function* withIds(events: ReturnType<LogStream["events"]>) {
  for await (const { after, ...event } of events) yield after === undefined ? event : { ...event, id: textOf(after) };
}

const textOf = ({ runId, seq }: LogPosition): string => `${runId}.${seq}`;

/** An invalid place counts as that of a client which has seen nothing. */
function placeOf(id: string | undefined): LogPosition | undefined {
  const [, run, seq] = /^([0-9a-f-]{36})\.([0-9]{1,15})$/i.exec(id ?? "") ?? [];
  const runId = RunId.safeParse(run);
  return runId.success ? { runId: runId.data, seq: Number(seq) } : undefined;
}
