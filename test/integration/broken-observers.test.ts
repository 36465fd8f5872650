import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { standIn, startObserverService } from "../support/system/observer-service.ts";

const GOOD = `
import { defineObserver } from "@unacked/sdk";
import { z } from "zod";
export default defineObserver({ type: "good", params: z.object({}), run: async () => undefined });
`;

/** By file: its text, and the place and the words that its author needs. */
const BROKEN: Record<string, { text: string; at: string; words: string; marked: string }> = {
  "syntax.ts": {
    text: 'export default {\n  type: "a",\n  async run({ signal ) {},\n};\n',
    at: "syntax.ts:3:22",
    words: 'SyntaxError: Expected "}" but found ")"',
    marked: ">  3 |   async run({ signal ) {},",
  },
  "syntax-in-javascript.js": {
    text: 'export default {\n  type: "b"\n  async run() {},\n};\n',
    at: "syntax-in-javascript.js:3:3",
    words: "SyntaxError: Expected",
    marked: ">  3 |   async run() {},",
  },
  "no-such-package.ts": {
    text: 'import { z } from "zod";\nimport feed from "no-such-package";\nexport default feed(z);\n',
    at: "no-such-package.ts:2:19",
    words: "Cannot find package 'no-such-package'",
    marked: '>  2 | import feed from "no-such-package";',
  },
  "no-such-export.ts": {
    text: 'import { nothing } from "zod";\nexport default nothing;\n',
    at: "no-such-export.ts:1:10",
    words: "does not provide an export named 'nothing'",
    marked: '>  1 | import { nothing } from "zod";',
  },
  "throws.ts": {
    text: 'interface Key { text: string }\nconst key: Key = { text: "" };\nif (key.text === "") throw new Error("FEED_KEY is not set");\n',
    at: "throws.ts:3:28",
    words: "Error: FEED_KEY is not set",
    marked: '>  3 | if (key.text === "") throw new Error("FEED_KEY is not set");',
  },
  "imports-one.ts": {
    text: 'import part from "./parts/part.ts";\nexport default part;\n',
    at: "part.ts:1:23",
    words: "SyntaxError",
    marked: ">  1 | export default { a: 1,, };",
  },
  "no-type.ts": {
    text: "export const nothing = 1;\n",
    at: "no-type.ts",
    words: "a helper belongs in a folder below",
    marked: "",
  },
  "same-type.ts": { text: GOOD, at: "same-type.ts", words: "its type good is that of", marked: "" },
};

/** Loads, and is said to mean less than its author may think. */
const MISTYPED = `
import { defineObserver } from "@unacked/sdk";
import { z } from "zod";
export default defineObserver({ type: "mistyped", descripton: "x", retry: {}, params: z.object({}), run: async () => undefined });
`;

const squeezed = (text = ""): string => text.replaceAll(/ +/g, " ");

function folderOfObservers(): string {
  const dir = temporaryFolder("broken");
  mkdirSync(join(dir, "parts"));
  writeFileSync(join(dir, "parts/part.ts"), "export default { a: 1,, };\n");
  for (const [file, { text }] of Object.entries(BROKEN)) writeFileSync(join(dir, file), text);
  return dir;
}

test("files that do not load cost their own types alone, and say where and why", async () => {
  const dir = folderOfObservers();
  writeFileSync(join(dir, "good.ts"), GOOD);
  const manager = await standIn();
  const service = startObserverService(manager.amqpUrl, { env: { OBSERVERS_DIR: dir } });
  onTestFinished(async () => {
    await service.kill();
    await manager.close();
  });
  const born = await manager.waitFor("ServiceBorn");
  expect(born.types.map(({ type }) => type)).toEqual(["good"]);
  expect(born.brokenFiles?.map(({ file }) => file).toSorted()).toEqual(
    Object.keys(BROKEN)
      .map((file) => join(dir, file))
      .toSorted(),
  );
  for (const [name, { at, words, marked }] of Object.entries(BROKEN)) {
    const told = born.brokenFiles?.find(({ file }) => file === join(dir, name));
    expect(told?.problem).toContain(words);
    const { place } = told ?? {};
    expect(place === undefined ? told?.file : `${place.file}:${place.line}:${place.column}`).toMatch(new RegExp(`/${at}$`));
    expect(squeezed(told?.excerpt)).toContain(squeezed(marked));
    const line = service.lines.find((text) => text.includes("file-not-loaded") && text.includes(`/${at}`));
    expect(line).toContain(JSON.stringify(words).slice(1, -1));
  }
  const { observerId } = await manager.start({ type: "good" });
  expect(await manager.waitFor("RunCompleted")).toMatchObject({ observerId });
});

test("a service does not start where no file has a type, and names each with its place", async () => {
  const dir = folderOfObservers();
  writeFileSync(join(dir, "same-type.ts"), "");
  const service = startObserverService("amqp://guest:guest@127.0.0.1:1", { env: { OBSERVERS_DIR: dir } });
  expect(await service.exited).toEqual({ code: 2, signal: null });
  expect(service.lines).toHaveLength(1);
  for (const [name, { at }] of Object.entries(BROKEN)) if (name !== "same-type.ts") expect(service.lines[0]).toContain(at);
});

test("a type whose fields are mistyped runs, and its author is told which mean nothing", async () => {
  const dir = temporaryFolder("mistyped");
  writeFileSync(join(dir, "mistyped.ts"), MISTYPED);
  const manager = await standIn();
  const service = startObserverService(manager.amqpUrl, { env: { OBSERVERS_DIR: dir } });
  onTestFinished(async () => {
    await service.kill();
    await manager.close();
  });
  const born = await manager.waitFor("ServiceBorn");
  expect([born.types.map(({ type }) => type), born.brokenFiles]).toEqual([["mistyped"], undefined]);
  const line = service.lines.find((text) => text.includes("unknown-fields"));
  expect(JSON.parse(line ?? "")).toMatchObject({
    level: "warn",
    msg: "the type mistyped is defined with unknown fields: descripton, retry",
  });
});

test.runIf(isTurnOf(0))(
  "a file that waits at its top level for ever costs its own types alone, and those that import what waits too",
  async () => {
    const dir = temporaryFolder("waits");
    mkdirSync(join(dir, "parts"));
    writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
    writeFileSync(join(dir, "parts/feed.ts"), "export const feed = await new Promise(() => {});\n");
    const importing = 'import { feed } from "./parts/feed.ts";\nexport default feed;\n';
    for (const file of ["before.ts", "behind.ts"]) writeFileSync(join(dir, file), importing);
    writeFileSync(join(dir, "good.ts"), GOOD);
    const manager = await standIn();
    const service = startObserverService(manager.amqpUrl, { env: { OBSERVERS_DIR: dir } });
    onTestFinished(async () => {
      await service.kill();
      await manager.close();
    });
    const born = await manager.waitFor("ServiceBorn", () => true, 50_000);
    expect(born.types.map(({ type }) => type)).toEqual(["good"]);
    expect(born.brokenFiles?.map(({ file }) => file)).toEqual([join(dir, "before.ts"), join(dir, "behind.ts")]);
    expect(born.brokenFiles?.[0]?.problem).toContain(
      "it has not come to its end within 30 s: an await outside of its handlers",
    );
    const { observerId } = await manager.start({ type: "good" });
    expect(await manager.waitFor("RunCompleted")).toMatchObject({ observerId });
  },
);

test("a file that blocks who loads it costs its own types alone: the service says which, and in which line", async () => {
  const dir = temporaryFolder("blocks");
  writeFileSync(join(dir, "good.ts"), GOOD);
  writeFileSync(join(dir, "loop.ts"), "let n: number = 0;\nfor (;;) n += 1;\n");
  // To load what reads TypeScript blocks it for a second, too, on a machine that does much else.
  const service = startObserverService("amqp://guest:guest@127.0.0.1:1", { env: { OBSERVERS_DIR: dir, STUCK_MS: "10000" } });
  await eventually(
    () =>
      expect(service.lines.join("\n")).toMatch(
        /only its types are missing here: .*FileBlocksError: a file has blocked its event loop .*loop\.ts:2:/,
      ),
    { timeoutMs: 60_000 },
  );
  expect(service.exit()).toBeNull();
});
