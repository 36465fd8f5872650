import type { Warning } from "@unacked/contracts";
import type { UnheardTimers } from "../facts.ts";

export function timersUnheard({ name, count, isRefused, since }: UnheardTimers): Warning {
  const [timers, are, them] = count === 1 ? ["timer", "is", "it"] : ["timers", "are", "them"];
  const [why, remedy] = isRefused
    ? [
        `a queue that is bound for that refuses ${them} (full, with x-overflow reject-publish, or without a leader), or confirms nothing`,
        `Look at the queues that are bound to the exchange unacked.timers for ${name}: empty the full one, or let it take more; bring back the nodes of one without a leader. It is tried again until it expires, and what is Firing cannot be cancelled: another queue may have heard it.`,
      ]
    : [
        `no queue took ${them}: nobody listens`,
        `Bind a queue to the exchange unacked.timers with the key ${name}. It is tried again until it expires; end it with unacked delete timers ID (DELETE /api/v1/timers/{timerId}).`,
      ];
  const message = `${count} ${timers} named ${name} ${are} due, and ${why}, since ${since.toISOString()} at the latest.`;
  return { code: "timers-unheard", subject: name, message, remedy };
}
