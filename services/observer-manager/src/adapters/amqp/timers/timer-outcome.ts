import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import type { FiringOutcome } from "../../../operations/timers/timer-store.ts";

/** Publishes a timer, unless it is unwanted before it is sent, and says what became of it. Never rejects. */
export async function published(publisher: Publisher, message: Outgoing, wanted: AbortSignal): Promise<FiringOutcome> {
  try {
    await publisher.publish(message, wanted);
    return "fired";
  } catch (error) {
    return error instanceof PublishError ? outcomeOf(error.code) : "unknown";
  }
}

function outcomeOf(code: PublishError["code"]): FiringOutcome {
  switch (code) {
    case "returned":
    case "too-late":
      return code;
    case "nacked":
    case "invalid": // its form was checked before it was taken; otherwise it is tried until it expires, and is noticed
      return "refused";
    case "lost":
      return "unknown";
    case "unavailable":
    case "overflow":
    case "unwanted":
      return "not-sent";
    default:
      return code satisfies never;
  }
}
