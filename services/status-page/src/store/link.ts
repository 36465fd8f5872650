/**
 * Whether what the page shows is the present. connecting: nothing came yet · live · lost: the stream broke off, and what is
 * shown is of `sinceMs`.
 */
export type Link = { phase: "connecting" | "live" } | { phase: "lost"; sinceMs: number };

export type LinkEvent = "ready" | "broken";

export function nextLink(link: Link, event: LinkEvent, nowMs: number): Link {
  switch (event) {
    case "ready":
      return link.phase === "live" ? link : { phase: "live" };
    case "broken":
      return link.phase === "lost" ? link : { phase: "lost", sinceMs: nowMs };
    default:
      return event satisfies never;
  }
}
