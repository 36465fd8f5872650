import { backoffMs } from "@unacked/contracts";
import type { DueCommand, SendOutcome, Settled } from "./command-store.ts";

/** What failed is sent again after so long. */
export const FAILED_PAUSE_MS = 1_000;
/** An admission is put off by so much while its observer is being stopped: by then it has been, or goes on. */
const PUT_OFF_MS = 1_000;
const HELD_UP_PAUSE_MS = 5_000;
/** What is sent until it is answered is sent again after 5 s, then after twice as long each time, up to 60 s. */
export const RESENDS = { firstMs: 5_000, maxMs: 60_000 };

/** What nobody wants any more is not sent. */
export const isWanted = (command: DueCommand): boolean =>
  !(command.kind === "start" && command.start === null) &&
  !(command.kind === "admit" && (command.admission === null || command.admission === "later")) &&
  !(command.kind === "update-run" && (command.spec === null || command.spec === "later"));

/** What becomes of the rows of all that was to be sent. A command without an outcome was not wanted any more. */
export const settlementOf = (due: DueCommand[], outcomes: ReadonlyMap<string, SendOutcome>): Settled[] =>
  due.flatMap((command) => settledOf(command, outcomes.get(command.id)) ?? []);

/** What becomes of a command's row; undefined: it stands as its claim left it. `outcome` is undefined for what is not wanted any more. */
function settledOf(command: DueCommand, outcome: SendOutcome | undefined): Settled | undefined {
  const { id } = command;
  if (command.kind === "stop") return outcome === "sent" ? undefined : { id, keep: "unsent-stop", dueInMs: FAILED_PAUSE_MS };
  if (outcome === undefined) {
    const isPutOff =
      (command.kind === "admit" && command.admission === "later") ||
      (command.kind === "update-run" && command.spec === "later");
    return isPutOff ? { id, keep: true, dueInMs: PUT_OFF_MS, wasSent: false } : { id, keep: false };
  }
  if (outcome === "held-up") return { id, keep: true, dueInMs: HELD_UP_PAUSE_MS, wasSent: false };
  if (outcome === "failed") return { id, keep: true, dueInMs: FAILED_PAUSE_MS, wasSent: false };
  switch (command.kind) {
    case "start":
    case "probe":
    case "step-aside":
      return { id, keep: false };
    case "stop-run":
    case "restart-run":
    case "move-run":
    case "admit":
    case "tell-checkpoint":
    case "update-run":
    case "report-inventory":
    case "drain":
    case "cordon":
    case "uncordon":
    case "reload":
      // The certificate ends that generation's runs; there is nobody left to tell.
      if (outcome === "gone") return { id, keep: false };
      return { id, keep: true, dueInMs: backoffMs(RESENDS, command.sentCount), wasSent: true };
    default:
      return command satisfies never;
  }
}
