import type { ServiceView } from "@unacked/contracts";
import { expect, onTestFinished, test } from "vitest";
import { ChangeHub } from "../../../services/observer-manager/src/operations/changes/change-hub.ts";
import type { ChangeLog, LoggedChange } from "../../../services/observer-manager/src/operations/changes/change-log.ts";
import type { ChangeEvent } from "../../../services/observer-manager/src/operations/changes/change-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { keptLog } from "../../support/servers/books.ts";

/** Books in memory: each change is a transaction of its own. */
class Books implements ChangeLog {
  readonly #changes: LoggedChange[] = [];
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
  horizon = async () => ({ settled: this.#next(), latest: this.#next() });
  #within = ({ from, to }: { from: bigint; to: bigint }) => this.#changes.filter(({ xid }) => xid >= from && xid < to);
  count = async (range: { from: bigint; to: bigint }) => this.#within(range).length;
  page = async (range: { from: bigint; to: bigint }) => ({ changes: this.#within(range), next: null });
}

function hubOf() {
  const books = new Books();
  const log = keptLog();
  const hub = new ChangeHub(books, books, log);
  onTestFinished(() => hub.close());
  const client = (cannotSend: (event: ChangeEvent) => boolean, lastEventId?: string) => {
    const told: string[] = [];
    let isEnded = false;
    const send = (event: ChangeEvent): boolean => {
      if (cannotSend(event)) throw new RangeError("Invalid time value");
      told.push(event.kind === "service" ? event.view.name : event.kind);
      return true;
    };
    hub.subscribe({ send, end: () => (isEnded = true) }, lastEventId);
    return { told, isEnded: () => isEnded };
  };
  return { books, log, client };
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
  const again = client(isBad, "99");
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
