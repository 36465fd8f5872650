import type { ServiceView } from "@unacked/contracts";
import { expect, onTestFinished, test } from "vitest";
import { ChangeHub } from "../../../services/observer-manager/src/operations/changes/change-hub.ts";
import type {
  ChangeLog,
  ChangePosition,
  LoggedChange,
} from "../../../services/observer-manager/src/operations/changes/change-log.ts";
import type { ChangeEvent } from "../../../services/observer-manager/src/operations/changes/change-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { keptLog } from "../../support/servers/books.ts";

/** Books in memory: each change is a transaction of its own. */
class Books implements ChangeLog {
  readonly #changes: LoggedChange[] = [];
  /** As few as there are of long ones. */
  perPage = Number.POSITIVE_INFINITY;
  pagesRead = 0;
  database = "1.1";
  /** Before each page is given. */
  beforePage: () => Promise<void> | void = () => undefined;
  #wake: () => void = () => undefined;
  onWake = (listener: () => void) => void (this.#wake = listener);

  change(...names: string[]): void {
    for (const name of names)
      this.#changes.push({
        xid: BigInt(this.#changes.length + 100),
        change: { kind: "service", view: { name } as ServiceView },
      });
    this.#wake();
  }

  #next = () => BigInt(this.#changes.length + 100);
  horizon = async () => ({ settled: this.#next(), latest: this.#next(), running: [], database: this.database });
  #within = ({ from, to }: { from: bigint; to: bigint }) => this.#changes.filter(({ xid }) => xid >= from && xid < to);
  count = async (range: { from: bigint; to: bigint }) => this.#within(range).length;
  page = async ({ from, to }: { from: bigint; to: bigint }, after: ChangePosition | null) => {
    this.pagesRead += 1;
    await this.beforePage();
    const all = this.#within({ from: after === null ? from : after.xid + 1n, to });
    const changes = all.slice(0, this.perPage);
    const last = all.length > changes.length ? changes.at(-1) : undefined;
    return { changes, next: last === undefined ? null : { xid: last.xid, id: "" } };
  };
}

function hubOf() {
  const books = new Books();
  const log = keptLog();
  const hub = new ChangeHub(books, books, log);
  onTestFinished(() => hub.close());
  const client = (cannotSend: (event: ChangeEvent) => boolean, lastEventId?: string) => {
    const told: string[] = [];
    let isEnded = false;
    const cursors: string[] = [];
    const send = (event: ChangeEvent): boolean => {
      if (cannotSend(event)) throw new RangeError("Invalid time value");
      if (event.cursor !== undefined) cursors.push(event.cursor);
      told.push(event.kind === "service" ? event.view.name : event.kind);
      return true;
    };
    hub.subscribe({ send, end: () => (isEnded = true) }, lastEventId);
    return { told, cursors, isEnded: () => isEnded };
  };
  return { books, hub, log, client };
}

const isBad = (event: ChangeEvent) => event.kind === "service" && event.view.name === "bad";
const never = () => false;

test("What cannot be sent to one client is told to the others, with all that comes behind it, and that one starts over", async () => {
  const { books, log, client } = hubOf();
  const [first, broken, last] = [client(never), client(isBad), client(never)];
  await eventually(() => [first, broken, last].every(({ told }) => told.includes("ready")));
  books.change("before", "bad", "after");
  await eventually(() => expect(last.told).toEqual(["ready", "before", "bad", "after"]));
  expect(first.told).toEqual(last.told);
  await eventually(() => expect(broken.told).toEqual(["ready", "before", "resync"]));
  books.change("later");
  await eventually(() => expect(broken.told).toEqual(["ready", "before", "resync", "later"]));
  await eventually(() => expect(first.told.at(-1)).toBe("later"));
  expect(log.lines).toMatchObject([{ level: "error", fields: { err: { message: "service: Invalid time value" } } }]);
});

test("A client that comes back is not held up by what cannot be sent", async () => {
  const { books, client } = hubOf();
  client(never);
  books.change("before", "bad", "after");
  const again = client(isBad, "1.1-99");
  await eventually(() => expect(again.told).toEqual(["before", "resync", "ready"]));
});

test("A client that cannot be told anything is ended", async () => {
  const { books, client } = hubOf();
  const broken = client(() => true);
  const other = client(never);
  await eventually(() => expect(broken.isEnded()).toBe(true));
  books.change("more");
  await eventually(() => expect(other.told).toEqual(["ready", "more"]));
});

test("Changes that take many pages are read once for all clients, page by page, and told in their order", async () => {
  const { books, client } = hubOf();
  books.perPage = 1;
  const clients = [client(never), client(never)];
  await eventually(() => clients.every(({ told }) => told.includes("ready")));
  const names = Array.from({ length: 20 }, (_, i) => `change-${i}`);
  const toldByThen: number[] = [];
  books.beforePage = () => void toldByThen.push(clients[0]?.told.length ?? 0);
  books.change(...names);
  for (const { told } of clients) await eventually(() => expect(told).toEqual(["ready", ...names]));
  expect(books.pagesRead).toBe(names.length);
  expect(toldByThen.at(-1)).toBe(names.length - 1); // "ready", and all but the last two: none is held back for all to be gathered
});

test("When the books fail in the middle of many pages, the next look begins where this one did", async () => {
  const { books, client } = hubOf();
  books.perPage = 1;
  const { told } = client(never);
  await eventually(() => told.includes("ready"));
  books.beforePage = () => {
    if (books.pagesRead === 3) throw new Error("away");
  };
  books.change("one", "two", "three");
  await eventually(() => expect(told).toEqual(["ready", "one", "one", "two", "three"]), { timeoutMs: 10_000 });
});

test("A client that goes live while changes are handed on to others is told of all of them", async () => {
  const { books, client } = hubOf();
  books.perPage = 1;
  const first = client(never);
  await eventually(() => first.told.includes("ready"));
  books.change("before");
  await eventually(() => expect(first.told).toEqual(["ready", "before"]));
  const held: (() => void)[] = [];
  books.beforePage = () => (held.length < 2 ? new Promise((resolve) => held.push(resolve)) : undefined);
  const again = client(never, "1.1-99");
  await eventually(() => expect(held).toHaveLength(1)); // what it missed
  books.change("one", "two");
  await eventually(() => expect(held).toHaveLength(2)); // what is to be handed on to the first
  held[0]?.();
  await eventually(() => expect(again.told).toEqual(["before", "ready"]));
  held[1]?.();
  await eventually(() => expect(again.told).toEqual(["before", "ready", "one", "two"]));
  expect(first.told).toEqual(["ready", "before", "one", "two"]);
});

test("Of many clients that come back at once, four read the books at a time, and each is told what it missed", async () => {
  const { books, client } = hubOf();
  books.change("one", "two", "three");
  books.perPage = 1;
  let [reading, most] = [0, 0];
  books.beforePage = async () => {
    most = Math.max(most, ++reading);
    await new Promise((resolve) => setImmediate(resolve));
    reading -= 1;
  };
  const clients = Array.from({ length: 20 }, () => client(never, "1.1-99"));
  for (const { told } of clients) await eventually(() => expect(told).toEqual(["one", "two", "three", "ready"]));
  expect(most).toBe(4);
});

test("A place in another database is none: one restored beside it counts on, and has other changes under the same numbers", async () => {
  const { books, client } = hubOf();
  books.change("restored", "too");
  const known = client(never, "1.1-100");
  // The last is of a manager that did not say which database it is.
  const others = ["1.2-100", "2.1-100", "100"].map((place) => client(never, place));
  await eventually(() => expect(known.told).toEqual(["too", "ready"]));
  for (const { told } of others) await eventually(() => expect(told).toEqual(["resync", "ready"]));
  books.database = "1.2";
  books.change("elsewhere");
  for (const { told } of [known, ...others]) await eventually(() => expect(told.at(-1)).toBe("resync"));
});

test("A client that is being told what it missed when the books become others begins at their present, and has a place in it", async () => {
  const { books, hub, client } = hubOf();
  books.change("before", "after");
  let goOn: (() => void) | undefined;
  books.beforePage = () => new Promise((resolve) => (goOn = resolve));
  const again = client(never, "1.1-99");
  await eventually(() => expect(goOn).toBeDefined());
  hub.startOver();
  books.beforePage = () => undefined;
  goOn?.();
  await eventually(() => expect(again.told).toEqual(["resync", "ready"]));
  expect(again.cursors).toEqual(["1.1-101", "1.1-101"]);
  books.change("later");
  await eventually(() => expect(again.told).toEqual(["resync", "ready", "later"]));
});
