import type { ChangesResync } from "@unacked/contracts";
import type { Change, ChangeLog, ChangePlace, ChangePosition, LoggedChange, XidRange } from "./change-log.ts";

export type ResyncReason = ChangesResync["reason"];

/**
 * What a client is told. `cursor` says "everything up to here was sent", so it stands on an event only when all rows of its
 * transaction went before, and on none that is told ahead of an older transaction that still runs. `ready`: from here on live. `resync`: read the lists again, some changes were skipped.
 */
export type ChangeEvent =
  | (Change & { cursor?: string })
  | { kind: "ready"; cursor: string }
  | { kind: "resync"; cursor: string; reason: ResyncReason };

/** An event, and where it stands among the changes. */
export interface ReadEvent {
  event: ChangeEvent;
  at: ChangePosition;
}

/** `bytes` of what may be long in them. */
export interface EventPage {
  events: ReadEvent[];
  bytes: number;
}

export type CursorAt = (xid: bigint) => string | undefined;

/** Of what is told ahead: nobody can go on from there. */
export const noCursor: CursorAt = () => undefined;

/** The events of a range, page by page, with a cursor wherever a transaction is complete. @param after begins behind it */
export async function* readEvents(
  log: ChangeLog,
  range: XidRange,
  cursorAt: CursorAt,
  after: ChangePosition | null = null,
): AsyncGenerator<EventPage> {
  let held: LoggedChange | undefined; // the last of a page: only the next one tells whether its transaction goes on
  let position = after;
  do {
    const { changes, next, bytes } = await log.page(range, position);
    const known: LoggedChange[] = held === undefined ? changes : [held, ...changes];
    held = next === null ? undefined : known.at(-1);
    const events = known.slice(0, held === undefined ? known.length : -1).map((logged, index) => {
      const following = known[index + 1];
      if (following === undefined) return toEvent(logged, cursorAt(range.to - 1n));
      return toEvent(logged, logged.xid === following.xid ? undefined : cursorAt(logged.xid));
    });
    yield { events, bytes };
    position = next;
  } while (position !== null);
}

function toEvent({ change, xid }: LoggedChange, cursor: string | undefined): ReadEvent {
  return { event: cursor === undefined ? { ...change } : { ...change, cursor }, at: { xid, id: change.view.id } };
}

const MAX_XID = 2n ** 63n;

/**
 * An event id: which database, and the decimal digits of a transaction's 64-bit number. A number alone, as managers of 0.1.0 gave it, is no
 * place: the books may have been restored since, beside the database that it is of, and the server counts on.
 */
export const cursorOf = ({ database, xid }: ChangePlace): string => `${database}-${xid}`;

export function parseCursor(text: string): ChangePlace | undefined {
  const [, database = "", digits = ""] = /^([0-9.-]{1,64})-([0-9]{1,19})$/.exec(text) ?? [];
  if (digits === "") return undefined;
  const xid = BigInt(digits);
  return xid < MAX_XID ? { database, xid } : undefined;
}
