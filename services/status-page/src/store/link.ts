/**
 * Whether what the page shows is the present. connecting: nothing came yet, or nothing comes as nobody looked · live · lost: the
 * stream broke off, and what is shown is of `sinceMs`.
 */
export type Link = { phase: "connecting" | "live" } | { phase: "lost"; sinceMs: number };

export type LinkEvent = { kind: "ready" | "resting" } | { kind: "broken"; lastHeardMs: number };

export function nextLink(link: Link, event: LinkEvent): Link {
  switch (event.kind) {
    case "ready":
      return link.phase === "live" ? link : { phase: "live" };
    case "resting":
      return link.phase === "connecting" ? link : { phase: "connecting" };
    case "broken":
      return link.phase === "lost" ? link : { phase: "lost", sinceMs: event.lastHeardMs };
    default:
      return event satisfies never;
  }
}
