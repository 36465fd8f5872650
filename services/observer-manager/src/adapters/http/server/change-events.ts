import { CALLS, ObserverView, type Role, ServiceView } from "@unacked/contracts";
import type { Request, RequestHandler, Response } from "express";
import { queryProblems } from "../../../domain/field-problems.ts";
import type { ChangeEvent } from "../../../operations/changes/change-event.ts";
import type { ChangeSink } from "../../../operations/changes/change-stream.ts";
import type { ManagerApi } from "../../../operations/manager-api.ts";
import { HttpProblem } from "../api/http-problem.ts";
import { callerOf } from "./caller.ts";
import { keyOfCaller } from "./rate-limits.ts";
import { seenBy } from "./seen-by.ts";
import { beginEventStream, frameOf, keepEventStream } from "./server-sent-events.ts";
import { StreamsOfCallers } from "./streams-of-callers.ts";

/** If more than this waits for a client to read, it later reads from the database instead. */
const MAX_BUFFERED_BYTES = 1_048_576;

/**
 * GET /events: server-sent events (WHATWG HTML, 9.2). `id` is a place in the database's changes that every manager
 * understands, so a client that lost this manager goes on at another from there.
 */
export function eventStream(changes: ManagerApi["changes"]): RequestHandler {
  const streams = new StreamsOfCallers();
  return (request, response) => {
    const lastEventId = readEventQuery(request);
    const caller = keyOfCaller(request, response);
    streams.refuseIfFull(caller);
    if (!beginEventStream(request, response)) return;
    streams.opened(caller);
    response.once("close", () => streams.closed(caller));
    const subscription = changes.subscribe(sinkOf(response), lastEventId);
    keepEventStream(request, response, { hasRoom: () => subscription.resume(), isGone: () => subscription.close() });
  };
}

function sinkOf(response: Response): ChangeSink {
  const { role } = callerOf(response).identity;
  return {
    send(event) {
      response.write(writtenOnce(event, role));
      return response.writableLength <= MAX_BUFFERED_BYTES;
    },
    end: () => response.end(),
  };
}

/** An event goes to many clients. It is written as text once for each role that sees it differently. */
const frames = new WeakMap<ChangeEvent, Partial<Record<Role, string>>>();

function writtenOnce(event: ChangeEvent, asker: Role): string {
  const role = roleOf(event, asker);
  const known = frames.get(event) ?? {};
  frames.set(event, known);
  return (known[role] ??= frameOf({ name: event.kind, id: event.cursor, data: dataOf(event, role) }));
}

/**
 * Observers change by the thousand, and all callers see them as viewers do. Services are few, and the page shows operators more of
 * them.
 */
const roleOf = ({ kind }: ChangeEvent, asker: Role): Role => (kind === "service" ? asker : "viewer");

function dataOf(event: ChangeEvent, role: Role): unknown {
  switch (event.kind) {
    case "observer":
      return seenBy(role, ObserverView).parse(event.view);
    case "service":
      return seenBy(role, ServiceView).parse(event.view);
    case "ready":
      return { cursor: event.cursor };
    case "resync":
      return { cursor: event.cursor, reason: event.reason };
    default:
      return event satisfies never;
  }
}

/** The place to go on from. The header wins, as a browser that reconnects by itself sends the newer place there. */
export function readEventQuery(request: Request): string | undefined {
  const parsed = CALLS.followChanges.query.safeParse({ ...request.query });
  if (!parsed.success) throw new HttpProblem({ code: "invalid-query", errors: queryProblems(parsed.error.issues) });
  return request.get("last-event-id") || parsed.data.lastEventId || undefined;
}
