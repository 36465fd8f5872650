import { type CheckpointView, checkpointTag } from "@unacked/contracts";
import type { CheckpointTools } from "../../../../operations/observers/checkpoint-desk.ts";
import type { Refusal } from "../../../../operations/refusal.ts";
import { CHECKPOINT, RESET_CHECKPOINT, SET_CHECKPOINT } from "../../openapi/examples/checkpoint-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls about the checkpoint that an observer's next run starts with. */
export function checkpointRoutes(tools: CheckpointTools): Route[] {
  return [show(tools), put(tools), reset(tools)];
}

/** The ETag header of a checkpoint. */
const WITH_TAG = {
  headers: { ETag: { description: "of which it is: send it as If-Match", example: checkpointTag(CHECKPOINT) } },
};

const answer = (outcome: CheckpointView | Refusal) =>
  "kind" in outcome ? outcome : ({ status: 200, body: outcome, headers: { ETag: checkpointTag(outcome) } } as const);

const show = (tools: CheckpointTools) =>
  defineRoute("getCheckpoint")({
    tag: "Observers",
    summary: "What its next run starts with, and the one before",
    answers: { 200: { description: "The checkpoint", examples: { "A run has saved it": CHECKPOINT }, ...WITH_TAG } },
    handle: async ({ ref }) => answer(await tools.get(ref)),
  });

const put = (tools: CheckpointTools) =>
  defineRoute("putCheckpoint")({
    tag: "Observers",
    summary: "Set what its next run starts with",
    description: "Where no run is current or asks whether it may start: pause the observer before.",
    bodyExamples: { "A sequence number": { value: { sequence: 4_711 } } },
    answers: { 200: { description: "As it stands now", examples: { "It was set": SET_CHECKPOINT }, ...WITH_TAG } },
    handle: async ({ ref, body, ifMatch, by }) => answer(await tools.put(ref, body, { ifMatch, by })),
  });

const reset = (tools: CheckpointTools) =>
  defineRoute("resetCheckpoint")({
    tag: "Observers",
    summary: "Let its next run start without one",
    description: "Where no run is current or asks whether it may start: pause the observer before. Safe to repeat.",
    answers: { 200: { description: "As it stands now", examples: { "There is none": RESET_CHECKPOINT }, ...WITH_TAG } },
    handle: async ({ ref, ifMatch, by }) => answer(await tools.reset(ref, { ifMatch, by })),
  });
