import type { ServiceView } from "@unacked/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChangeEvent } from "../../../services/observer-manager/src/operations/changes/change-event.ts";
import { ChangeHub } from "../../../services/observer-manager/src/operations/changes/change-hub.ts";
import type {
  ChangeLog,
  ChangePosition,
  LoggedChange,
  XidRange,
} from "../../../services/observer-manager/src/operations/changes/change-log.ts";
import { eventually } from "../../support/eventually.ts";
import { keptLog } from "../../support/servers/books.ts";

/** Books in memory. */
class Books implements ChangeLog {
  readonly #changes: LoggedChange[] = [];
  readonly #running: bigint[] = [];
  #next = 100n;
  /** As few as there are of long ones. */
  perPage = Number.POSITIVE_INFINITY;
  pagesRead = 0;
  looks = 0;
  /** What pages begin behind. */
  readonly after: (string | undefined)[] = [];
  database = "1.1";
  /** Before each page is given. */
  beforePage: () => Promise<void> | void = () => undefined;
  /** Before each count is given. */
  beforeCount: () => Promise<void> | void = () => undefined;
  wake: () => void = () => undefined;
  onWake = (listener: () => void) => void (this.wake = listener);

  /** Each in a transaction of its own. */
  change(...names: string[]): void {
    for (const name of names) this.changeTogether(name);
  }

  /** All in one transaction. */
  changeTogether(...names: string[]): void {
    for (const name of names) {
      const id = String(this.#changes.length).padStart(6, "0");
      this.#changes.push({ xid: this.#next, change: { kind: "service", view: { id, name } as ServiceView } });
    }
    this.#next += 1n;
    this.wake();
  }

  /** A transaction that stays open, of which nothing is seen. */
  open(): void {
    this.#running.push(this.#next);
    this.#next += 1n;
  }

  horizon = async () => {
    this.looks += 1;
    const [running, latest] = [this.#running, this.#next];
    return { settled: running[0] ?? latest, latest, running, database: this.database };
  };
  #within = ({ from, to }: XidRange) => this.#changes.filter(({ xid }) => xid >= from && xid < to);
  count = async (range: XidRange) => {
    const count = this.#within(range).length;
    await this.beforeCount();
    return count;
  };
  page = async (range: XidRange, after: ChangePosition | null) => {
    this.pagesRead += 1;
    const all = this.#within(range).filter(({ change }) => after === null || change.view.id > after.id);
    this.after.push(this.#changes.find(({ change }) => change.view.id === after?.id)?.change.view.name);
    await this.beforePage();
    const changes = all.slice(0, this.perPage);
    const last = all.length > changes.length ? changes.at(-1) : undefined;
    return { changes, bytes: 0, next: last === undefined ? null : { xid: last.xid, id: last.change.view.id } };
  };
}

function hubOf() {
  const books = new Books();
  const log = keptLog();
  const hub = new ChangeHub(books, books, log);
  onTestFinished(() => hub.close());
  /** @param hasRoom asked behind each event */
  const client = (cannotSend: (event: ChangeEvent) => boolean, lastEventId?: string, hasRoom = () => true) => {
    const told: string[] = [];
    let isEnded = false;
    const cursors: string[] = [];
    const send = (event: ChangeEvent): boolean => {
      if (cannotSend(event)) throw new RangeError("Invalid time value");
      if (event.cursor !== undefined) cursors.push(event.cursor);
      told.push(event.kind === "service" ? event.view.name : event.kind);
      return hasRoom();
    };
    const subscription = hub.subscribe({ send, end: () => (isEnded = true) }, lastEventId);
    return { told, cursors, isEnded: () => isEnded, ...subscription };
  };
  return { books, hub, log, client };
}

/** A gate that holds up who comes, until it is opened. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let isReached = false;
  const pass = () => {
    isReached = true;
    return opened;
  };
  return { pass, open, isReached: () => isReached };
}

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`);

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
  const names = numbered("change", 20);
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

describe("while changes go on", () => {
  test("those that come back are told the rest of what the hub has handed on meanwhile, and go live", async () => {
    const { books, client } = hubOf();
    const first = client(never);
    await eventually(() => first.told.includes("ready"));
    books.change("missed");
    await eventually(() => expect(first.told).toEqual(["ready", "missed"]));
    // The hub moves on whenever one of them reads.
    let moves = 0;
    books.beforeCount = async () => {
      const name = `meanwhile-${moves++}`;
      books.change(name);
      await eventually(() => first.told.includes(name));
    };
    const clients = Array.from({ length: 20 }, () => client(never, "1.1-99"));
    for (const { told } of clients)
      await eventually(() => expect(told).toContain("ready"), { timeoutMs: 3_000, what: "it is live" });
    expect(moves).toBe(clients.length);
    books.change("last");
    for (const { told } of clients) {
      await eventually(() => told.includes("last"));
      expect(told.filter((name) => name !== "ready")).toEqual(["missed", ...numbered("meanwhile", moves), "last"]);
    }
  });

  test("so are those that come back to a manager that nobody follows yet", async () => {
    const { books, client } = hubOf();
    books.change("missed");
    let moves = 0;
    books.beforeCount = async () => {
      books.change(`meanwhile-${moves++}`);
      const looks = books.looks + 2; // one may be under way
      await eventually(() => {
        books.wake();
        return books.looks >= looks;
      });
    };
    const again = client(never, "1.1-99");
    await eventually(() => expect(again.told).toContain("ready"), { timeoutMs: 3_000, what: "it is live" });
    expect(again.told.filter((name) => name !== "ready")).toEqual(["missed", ...numbered("meanwhile", moves)]);
  });
});

describe("while a transaction stays open", () => {
  test("and changes go on, those that come back are told of both sides of it, and go live", async () => {
    const { books, client } = hubOf();
    const first = client(never);
    await eventually(() => first.told.includes("ready"));
    books.change("before");
    books.open();
    books.change("ahead");
    await eventually(() => expect(first.told).toEqual(["ready", "before", "ahead"]), { timeoutMs: 5_000 });
    let moves = 0;
    books.beforeCount = async () => {
      const name = `meanwhile-${moves++}`;
      books.change(name);
      await eventually(() => first.told.includes(name));
    };
    const slow = client(never, "1.1-99", () => slow.told.length % 2 === 0);
    const again = client(never, "1.1-99");
    for (const { told } of [again, slow])
      await eventually(
        () => {
          slow.resume();
          expect(told).toContain("ready");
        },
        { timeoutMs: 3_000, what: "it is live" },
      );
    books.change("last");
    for (const { told } of [again, slow]) {
      await eventually(() => told.includes("last"));
      const names = told.filter((name) => name !== "ready");
      expect(names).toEqual(["before", "ahead", ...numbered("meanwhile", moves), "last"]);
    }
    expect(again.cursors).toEqual(["1.1-100", "1.1-100"]);
  });
});

describe("more than 10,000 changes in one look", () => {
  test("are not read to their end: all read the lists again, and new ones do not wait", async () => {
    const { books, client } = hubOf();
    books.perPage = 500;
    const clients = [client(never), client(never)];
    await eventually(() => clients.every(({ told }) => told.includes("ready")));
    books.changeTogether(...numbered("many", 10_001));
    for (const { told } of clients) await eventually(() => expect(told.at(-1)).toBe("resync"), { timeoutMs: 3_000 });
    expect(books.pagesRead).toBeLessThanOrEqual(2);
    const [one, other] = clients;
    expect(one?.told.length).toBeLessThan(1_000);
    books.change("later");
    await eventually(() => [one, other].every((each) => each?.told.at(-1) === "later"));
  });

  test("10,000 are", async () => {
    const { books, client } = hubOf();
    books.perPage = 500;
    const { told } = client(never);
    await eventually(() => told.includes("ready"));
    const many = numbered("many", 10_000);
    books.changeTogether(...many);
    await eventually(() => expect(told).toEqual(["ready", ...many]));
  });
});

describe("a look of many pages", () => {
  test("ends when the manager does", async () => {
    const { books, hub, client } = hubOf();
    books.perPage = 1;
    const { told, isEnded } = client(never);
    await eventually(() => told.includes("ready"));
    const third = gate();
    books.beforePage = () => (books.pagesRead === 3 ? third.pass() : undefined);
    books.change(...numbered("change", 100));
    await eventually(third.isReached);
    const closed = hub.close();
    third.open();
    await closed;
    expect(isEnded()).toBe(true);
    expect(books.pagesRead).toBe(3);
  });

  test("ends when nobody listens any more, and others begin behind it", async () => {
    const { books, client } = hubOf();
    books.perPage = 1;
    const first = client(never);
    await eventually(() => first.told.includes("ready"));
    const third = gate();
    books.beforePage = () => (books.pagesRead === 3 ? third.pass() : undefined);
    books.change(...numbered("change", 3_000));
    await eventually(third.isReached);
    const last = client(never);
    first.close();
    third.open();
    await eventually(() => expect(last.told).toEqual(["ready"]));
    expect(books.pagesRead).toBeLessThan(1_100);
  });

  test("is not told on when the books have become others meanwhile", async () => {
    const { books, hub, client } = hubOf();
    books.perPage = 1;
    const { told, cursors } = client(never);
    await eventually(() => told.includes("ready"));
    const third = gate();
    books.beforePage = () => (books.pagesRead === 3 ? third.pass() : undefined);
    books.change(...numbered("change", 10));
    await eventually(third.isReached);
    books.database = "1.2";
    hub.startOver();
    third.open();
    await eventually(() => expect(told.at(-1)).toBe("resync"));
    books.change("elsewhere");
    await eventually(() => expect(told.at(-1)).toBe("elsewhere"));
    expect(told).toEqual(["ready", "change-0", "resync", "elsewhere"]);
    expect(cursors.at(-2)).toMatch(/^1\.2-/);
  });
});

describe("a client that has no room while it is told what it missed", () => {
  const missed = numbered("missed", 6);

  /** It has room for two events at a time. */
  function slowOne() {
    const parts = hubOf();
    let sent = 0;
    const slow = parts.client(never, "1.1-99", () => ++sent % 2 !== 0);
    return { ...parts, slow };
  }

  test.each(["change", "changeTogether"] as const)(
    "keeps no page: it reads on behind what it was sent last (%s)",
    async (how) => {
      const { books, slow } = slowOne();
      books[how](...missed);
      for (let sent = 2; sent <= missed.length; sent += 2) {
        await eventually(() => expect(slow.told).toEqual(missed.slice(0, sent)));
        slow.resume();
      }
      await eventually(() => expect(slow.told).toEqual([...missed, "ready"]));
      expect(books.after.filter((name) => name !== undefined)).toEqual(["missed-1", "missed-3", "missed-5"]);
      expect(slow.cursors).toEqual(
        how === "change"
          ? [...numbered("1.1", 0), "1.1-100", "1.1-101", "1.1-102", "1.1-103", "1.1-104", "1.1-105", "1.1-105"]
          : ["1.1-100", "1.1-100"],
      );
    },
  );

  test("holds up nobody else: its turn is over", async () => {
    const { books, client } = hubOf();
    books.change(...missed);
    const stuck = Array.from({ length: 8 }, () => client(never, "1.1-99", () => false));
    await eventually(() => stuck.every(({ told }) => told.length === 1));
    const quick = client(never, "1.1-99");
    await eventually(() => expect(quick.told).toEqual([...missed, "ready"]));
  });
});
