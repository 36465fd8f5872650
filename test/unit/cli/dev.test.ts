import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { watchCode } from "../../../cli/dev/code-watch.mjs";
import { isCode, watchedFolder, watchFolder } from "../../../cli/dev/folder-watch.mjs";
import { logStream, shownLine } from "../../../cli/dev/log-stream.mjs";
import { RABBITMQ_MISSING } from "../../../cli/dev/servers-missing.mjs";
import { serviceLife } from "../../../cli/dev/service-life.mjs";
import { eventually } from "../../support/eventually.ts";

const line = (entry: object): string => JSON.stringify({ level: "info", msg: "hello", ...entry });

it("a line is shown with its source: the program, or the type and name of the observer that says it", () => {
  expect(shownLine("manager", line({}), [])).toBe("manager   | hello\n");
  const said = line({ type: "feed", observer: "btc", level: "warn", fields: { price: 1 } });
  expect(shownLine("service", said, [])).toBe('feed/btc  | WARN  hello {"price":1}\n');
  const failed = line({ level: "error", error: { name: "TypeError", message: "no" }, msg: "one\ntwo" });
  expect(shownLine("service", failed, [])).toBe("service   | ERROR one\nservice   | two: TypeError: no\n");
  expect(shownLine("service", "no JSON", [])).toBe("service   | no JSON\n");
});

it("what a task says is its author's: shown with its type and the end of its id, and again as often as it is said", () => {
  let shown = "";
  const stream = logStream({ only: [], write: (text) => void (shown += text) });
  const said = line({ level: "warn", type: "mail", task: "01a22dd0-59a4-7181-9e0d-981afa4174ed", msg: "late" });
  for (const _ of [1, 2]) stream.take("service", said);
  expect(shown).toBe("mail/4174ed | WARN  late\n".repeat(2));
  expect(shownLine("service", line({ type: "mail", tasks: 3 }), [])).toBe("mail/3 tasks | hello\n");
});

it("what says where, and why, is shown behind the message, where that does not say it itself", () => {
  const shown = (entry: object) => shownLine("service", line(entry), []);
  const stack = "at tick (/project/observers/feed.ts:7:9)\nat listOnTimeout (node:internal/timers:588:17)";
  const loose = { level: "error", msg: "threw", file: "feed.ts", error: { name: "Error", message: "no", stack } };
  expect(shown(loose)).toBe(
    "service   | ERROR threw (file feed.ts): Error: no\nservice   |     at tick (/project/observers/feed.ts:7:9)\n",
  );
  const ended = { type: "feed", observer: "btc", msg: "the run has ended", fact: "RunStopped", reason: "stopped" };
  expect(shown(ended)).toBe("feed/btc  | the run has ended (reason stopped, fact RunStopped)\n");
  const interrupted = { type: "feed", observer: "btc", level: "warn", msg: "it begins again", why: "its slot ended" };
  expect(shown(interrupted)).toBe("feed/btc  | WARN  it begins again (why its slot ended)\n");
  expect(shown({ type: "feed", reason: "a transform", msg: "no schema" })).toBe(
    "service   | no schema (type feed, reason a transform)\n",
  );
  expect(shown({ names: ["a", "b"], msg: "taken up" })).toBe("service   | taken up (names a, b)\n");
  expect(shown({ file: "feed.ts", msg: "feed.ts does not load" })).toBe("service   | feed.ts does not load\n");
});

it("only those are shown that are asked for, by program or by type", () => {
  const ofFeed = line({ type: "feed", observer: "btc" });
  expect(shownLine("service", ofFeed, ["feed"])).not.toBeNull();
  expect(shownLine("service", ofFeed, ["service"])).not.toBeNull();
  expect(shownLine("service", ofFeed, ["manager", "other"])).toBeNull();
  expect(shownLine("manager", line({}), ["feed"])).toBeNull();
});

it("requests that the manager has answered well are shown where the manager is asked for", () => {
  const answered = (status: number) => line({ msg: "Answered", status });
  expect(shownLine("manager", answered(200), [])).toBeNull();
  expect(shownLine("manager", answered(200), ["manager"])).not.toBeNull();
  expect(shownLine("manager", answered(503), [])).not.toBeNull();
});

it("why a program cannot go on, and what to do, is shown beside its message; said again and again it is shown once", () => {
  let shown = "";
  const stream = logStream({ only: [], write: (text) => void (shown += text) });
  const away = {
    level: "error",
    msg: "no broker; trying again",
    detail: "connect ECONNREFUSED 127.0.0.1:1",
    remedy: "Start it.",
  };
  for (let connection = 1; connection <= 6; connection += 1) stream.take("manager", line({ ...away, connection }));
  const told = "manager   | ERROR no broker; trying again: connect ECONNREFUSED 127.0.0.1:1. Start it.\n";
  expect(shown).toBe(told);
  stream.take("manager", line({}));
  stream.take("manager", line(away));
  expect(shown).toBe(`${told}manager   | hello\n${told}`);
  // What an observer says is its author's.
  shown = "";
  for (const times of [1, 2])
    stream.take("service", line({ level: "warn", type: "feed", observer: "btc", msg: "late", times }));
  expect(shown).toBe("feed/btc  | WARN  late\n".repeat(2));
});

it("saved code counts, below src too, and what editors, tools and packages write does not", () => {
  expect(["feed.ts", "lib/price.js", "lib/pairs.json", "feed.mts"].filter((name) => !isCode(name))).toEqual([]);
  const others = ["feed.ts~", ".feed.ts.swp", ".git/index.js", "node_modules/a/index.js", "notes.md", "4913"];
  expect(others.filter(isCode)).toEqual([]);
  expect(watchedFolder("/project/src/observers")).toBe("/project/src");
  expect(watchedFolder("/project/observers")).toBe("/project/observers");
});

it("each save is seen of an editor that writes another file and renames it", { timeout: 240_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), "unacked-watch-"));
  writeFileSync(join(dir, "feed.ts"), "0");
  let seen = 0;
  const unwatch = watchFolder(dir, () => (seen += 1), expect.fail);
  try {
    for (const text of ["1", "2", "3"]) {
      const before = seen;
      writeFileSync(join(dir, "feed.ts~"), text);
      renameSync(join(dir, "feed.ts~"), join(dir, "feed.ts"));
      await eventually(() => expect(seen).toBeGreaterThan(before), { what: `save ${text} is seen` });
    }
  } finally {
    unwatch();
    rmSync(dir, { recursive: true });
  }
});

it.each([0, 1_000])("saves are seen in a folder that was away for %i ms, as between two branches", async (awayMs) => {
  const parent = mkdtempSync(join(tmpdir(), "unacked-watch-"));
  const dir = join(parent, "observers");
  const save = (text: string) => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "feed.ts"), text);
  };
  save("0");
  let seen = 0;
  const unwatch = watchFolder(dir, () => (seen += 1), expect.fail);
  try {
    rmSync(dir, { recursive: true });
    await sleep(awayMs); // longer than it waits for quiet, or not
    save("1");
    await eventually(() => expect(seen).toBeGreaterThan(0), { what: "it is seen that the folder is back" });
    const before = seen;
    save("2");
    await eventually(() => expect(seen).toBeGreaterThan(before), { what: "the next save is seen" });
  } finally {
    unwatch();
    rmSync(parent, { recursive: true });
  }
});

it.each([
  ["that is watched", ""],
  ["in the one that is watched", "src"],
])("saves are seen in a folder %s, which was swapped for another of that name", async (_, above) => {
  const root = mkdtempSync(join(tmpdir(), "unacked-watch-"));
  const parent = join(root, above);
  mkdirSync(parent, { recursive: true });
  const [dir, other] = [join(parent, "observers"), join(root, "other")];
  for (const each of [dir, other]) {
    mkdirSync(each);
    writeFileSync(join(each, "feed.ts"), "0");
  }
  let seen = 0;
  const unwatch = watchFolder(watchedFolder(dir), () => (seen += 1), expect.fail, { inner: dir });
  try {
    renameSync(dir, join(root, "old"));
    renameSync(other, dir);
    await eventually(() => expect(seen).toBeGreaterThan(0), { what: "it is seen that it is another" });
    const before = seen;
    writeFileSync(join(dir, "feed.ts"), "1");
    await eventually(() => expect(seen).toBeGreaterThan(before), { what: "the next save is seen" });
  } finally {
    unwatch();
    rmSync(root, { recursive: true });
  }
});

it("saves are seen of what types import from beside their folder, also of what is not there yet, and not of what only lies there", async () => {
  const root = mkdtempSync(join(tmpdir(), "unacked-watch-"));
  const save = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  save("observers/feed.ts", 'import { price } from "../lib/price.js";');
  save("lib/price.ts", 'export { round as price } from "../shared/round.ts";');
  save("shared/round.ts", "0");
  save("later/other.ts", "0");
  let seen = 0;
  const unwatch = watchCode(join(root, "observers"), () => (seen += 1), expect.fail);
  const isSeen = async (name: string, text: string) => {
    const before = seen;
    save(name, text);
    await eventually(() => expect(seen).toBeGreaterThan(before), { what: `that ${name} was saved` });
  };
  try {
    await isSeen("lib/price.ts", 'export { round as price } from "../shared/round.ts"; // again');
    await isSeen("shared/round.ts", "1");
    await isSeen("observers/feed.ts", 'import { price } from "../later/missing.js";');
    await isSeen("later/missing.ts", "1");
    await isSeen("lib/price.ts", "2");
    const before = seen;
    save("others/unused.ts", "1");
    save("lib/notes.md", "1");
    await sleep(500); // longer than it waits for quiet
    expect(seen).toBe(before);
  } finally {
    unwatch();
    rmSync(root, { recursive: true });
  }
});

/** A program that is started as the test says. */
function programThat(start: () => Promise<void>) {
  const stops: number[] = [];
  const stop = () => Promise.resolve(void stops.push(1));
  return { name: "the service", pid: -1, url: "", exited: Promise.resolve("it never ran"), start, stop, stops };
}

it("a service that is not ready in time is ended before another one starts", async () => {
  const program = programThat(() => Promise.reject(new Error("it was not ready within 60 s")));
  const stopping = new AbortController();
  const said: string[] = [];
  const life = serviceLife(program, { signal: stopping.signal, say: (text) => said.push(text) });
  const lived = life.live();
  await eventually(() => expect(said.at(-1)).toBe("The service starts again when a file is saved."));
  expect(program.stops).toEqual([1]);
  stopping.abort();
  await lived;
});

it("who is told to end does not wait for a service that still starts", async () => {
  const stopping = new AbortController();
  const life = serviceLife(
    programThat(() => new Promise(() => undefined)),
    { signal: stopping.signal, say: expect.fail },
  );
  const lived = life.live();
  stopping.abort();
  await lived;
});

it("what to do without RabbitMQ is told for each system", () => {
  for (const word of [
    "apt-get install rabbitmq-server",
    "dnf install rabbitmq-server",
    "brew install rabbitmq",
    "WSL",
    "docker run",
  ])
    expect(RABBITMQ_MISSING).toContain(word);
});
