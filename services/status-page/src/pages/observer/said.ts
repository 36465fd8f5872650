import type { LogLine, NoLogsReason } from "@unacked/contracts";
import type { LogTail } from "../../store/log-tail.ts";

interface Followed {
  tail: LogTail;
  failure: { code: string; message: string; remedy: string } | null;
}

/** Why there is nothing to show, and what comes of it. */
const WAITING: Record<NoLogsReason, { title: string; text: string }> = {
  "no-run": { title: "It has not run yet", text: "Lines come as soon as a service runs it." },
  moving: { title: "Its service has let go of it", text: "Lines come as soon as another runs it." },
  "service-gone": {
    title: "Its service is gone",
    text: "What its last run said went with it. Lines come when it runs again.",
  },
  "not-kept": {
    title: "Nothing of its last run is kept",
    text: "A service remembers what ended last. Lines come when it runs again.",
  },
  "no-answer": {
    title: "Its service does not answer just now",
    text: "It is asked again and again. If that lasts, its process is frozen or its event loop is blocked.",
  },
};

/** How it stands with what an observer says: in a few words, and in a sentence where there is nothing else to see. */
export function stateOf({ tail, failure }: Followed): { tone: "good" | "wait" | "over"; title: string; text: string } {
  const { state, run } = tail;
  if (failure?.code === "unreachable")
    return { tone: "wait", title: "No connection to the manager", text: "It is tried again and again." };
  if (failure !== null) return { tone: "wait", title: failure.message, text: failure.remedy };
  switch (state.phase) {
    case "asking":
      return { tone: "wait", title: "Asking its service", text: "" };
    case "telling":
      return { tone: "good", title: `Live from ${run?.service.name}`, text: "" };
    case "waiting":
      return { tone: "wait", ...WAITING[state.reason] };
    case "over":
      return {
        tone: "over",
        title: `${state.status}: nothing more comes`,
        text: "What it said was in its service's memory, and that has it no more.",
      };
    default:
      return state satisfies never;
  }
}

/** What was cut comes as text already. */
export const jsonText = (value: unknown, isCut: boolean, indent = 0): string =>
  isCut && typeof value === "string" ? value : (JSON.stringify(value, null, indent) ?? "");

export const fieldsText = ({ fields, cut }: LogLine): string => (fields === undefined ? "" : jsonText(fields, cut));
