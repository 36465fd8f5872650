import { LOG_EVENTS, type LogEvent, type LogEventName } from "@unacked/contracts";
import type { z } from "zod";
import type { Connection } from "./connection.ts";
import { decodeEvent } from "./decode-answer.ts";
import { followStream, type StreamAddress, type StreamLost } from "./event-stream.ts";

/** An event of the stream, under its own name. */
export type LogNews = { kind: "event"; event: LogEvent } | StreamLost;

/** Follows what an observer says until `signal`, or until it is over. Nothing is told twice, also over a break. */
export async function* followLogs(
  connection: Connection,
  address: Pick<StreamAddress, "path" | "about">,
  signal: AbortSignal,
): AsyncGenerator<LogNews> {
  for await (const block of followStream(connection, { ...address, last: "end" }, signal)) {
    if ("kind" in block) yield block;
    else if (isKnown(block.event)) {
      const schema: z.ZodType = LOG_EVENTS[block.event];
      const data = decodeEvent(schema, block, `GET ${connection.url}${address.path}`);
      yield { kind: "event", event: { name: block.event, data } as LogEvent };
    }
  }
}

const isKnown = (name: string): name is LogEventName => Object.hasOwn(LOG_EVENTS, name);
