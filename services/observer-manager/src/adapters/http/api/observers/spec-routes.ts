import { specTag } from "@unacked/contracts";
import type { Lifecycle, PutOutcome } from "../../../../operations/observers/observer-tools.ts";
import {
  CHANGED,
  CHANGED_AT_ONCE,
  DEFINITION,
  PROCESSING,
  PUT_CREATED,
  UNCHANGED,
} from "../../openapi/examples/observer-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** The ETag header of an observer. */
export const WITH_TAG = {
  headers: { ETag: { description: "of what is wanted of it: send it as If-Match", example: specTag(PROCESSING) } },
};

/** Calls that change an observer's spec in place. */
export function specRoutes(lifecycle: Lifecycle): Route[] {
  return [change(lifecycle), put(lifecycle)];
}

const change = (lifecycle: Lifecycle) =>
  defineRoute("changeObserver")({
    tag: "Observers",
    summary: "Change params, labels, retry, pool or silence; it keeps its id, name and history",
    description:
      "What is given replaces what was, whole. Labels apply at once. Limits of silence are told to its run, and so are params and retry where its type takes them as it runs (`onUpdate` of the type): it goes on, begins again in place, or rejects the params, which `rejectedUpdate` then says. For all else its run is stopped and it is sent again as it is wanted now. One that is Paused, Scheduled, Failed or Completed is so when it runs again.",
    bodyExamples: {
      "Other params": { params: { url: "https://shop.example/", everyMs: 5_000 } },
      "Labels alone, which takes no restart": { labels: { team: "web" } },
    },
    answers: {
      200: {
        description: "It is so, or is so when it runs again",
        examples: { "Labels apply at once": CHANGED_AT_ONCE, "It was so already": UNCHANGED },
        ...WITH_TAG,
      },
      202: {
        description: "Its run is told; or it is stopped, and sent again",
        examples: { "A service is told": CHANGED },
        ...WITH_TAG,
      },
    },
    async handle({ ref, query, body, ifMatch, by }) {
      const outcome = await lifecycle.changeSpec({ ref, change: body, ifMatch, ...query }, by);
      return outcome.kind === "problem" ? outcome : { status: statusOf(outcome), ...answerOf(outcome) };
    },
  });

const put = (lifecycle: Lifecycle) =>
  defineRoute("putObserver")({
    tag: "Observers",
    summary: "Have an observer as this says: created, changed where it is otherwise, or left alone",
    description: "By its name. `startAt` counts where it is created.",
    bodyExamples: { "A whole definition": DEFINITION },
    answers: {
      200: {
        description: "It is so, or is so when it runs again",
        examples: { "It was so already": UNCHANGED },
        ...WITH_TAG,
      },
      201: { description: "There was none of that name", examples: { "Sent to the broker": PUT_CREATED }, ...WITH_TAG },
      202: {
        description: "Its run is told; or it is stopped, and sent again",
        examples: { "A service is told": CHANGED },
        ...WITH_TAG,
      },
    },
    async handle({ ref, body, ifMatch, by }) {
      const outcome = await lifecycle.putObserver(ref, body, { ifMatch }, by);
      if (outcome.kind === "problem") return outcome;
      return { status: outcome.kind === "created" ? 201 : statusOf(outcome), ...answerOf(outcome) };
    },
  });

type Done = Exclude<PutOutcome, { kind: "problem" }>;

/** 202 if there is something to wait for, else 200. */
const statusOf = ({ kind, observer }: Done): 200 | 202 => (kind === "changed" && observer.pending === "update" ? 202 : 200);

const answerOf = ({ kind, observer, changed }: Done) => ({
  body: { ...observer, outcome: kind, changed },
  headers: { ETag: specTag(observer) },
});
