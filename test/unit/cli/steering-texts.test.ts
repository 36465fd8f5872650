import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TypeList, WorkPage } from "@unacked/contracts";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Io } from "../../../cli/src/io.ts";
import { painted, unpainted } from "../../../cli/src/output/colours.ts";
import { describeObserver, describeService, describeTask } from "../../../cli/src/output/description.ts";
import { jsonText, yamlText } from "../../../cli/src/output/document-text.ts";
import { ListPrinter, OUTPUT_FORMATS, printOne } from "../../../cli/src/output/list-printer.ts";
import { logLine } from "../../../cli/src/output/log-lines.ts";
import { OBSERVER_LISTING } from "../../../cli/src/output/observer-listings.ts";
import { plainText } from "../../../cli/src/output/plain-text.ts";
import { SERVICE_LISTING } from "../../../cli/src/output/service-listing.ts";
import { TASK_LISTING } from "../../../cli/src/output/task-listings.ts";
import { TIMER_LISTING } from "../../../cli/src/output/time-listings.ts";
import { run } from "../../../cli/src/program.ts";
import { WORK_UNDER_WAY } from "../../../services/observer-manager/src/adapters/http/openapi/examples/bulk-work-examples.ts";
import { FLOW_FAILED } from "../../../services/observer-manager/src/adapters/http/openapi/examples/flow-examples.ts";
import { TYPES } from "../../../services/observer-manager/src/adapters/http/openapi/examples/service-examples.ts";
import {
  COMPLETED,
  CREATED,
  TASK_CANCELLING,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-examples.ts";
import { WAITING } from "../../../services/observer-manager/src/adapters/http/openapi/examples/timer-examples.ts";
import { QUIET_IO } from "./quiet-io.ts";
import { NOW_MS, observerView, onService, runView, serviceView } from "./views.ts";

/** Renames the window, clears the line, goes up; the same by C1; DEL; turns the direction; begins a line. */
const HOSTILE = "x\u001b]0;pwned\u0007\u001b[2K\u001b[1A\u009b2K\u007f\u200e\u200f\u061c\u202e\u2066\u2028\r\nforged: yes";
const WRITTEN = plainText(HOSTILE);

/** All that is no line break; colours are our own. */
const STEERING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const expectPlain = (text: string, what?: string): void => {
  expect(text.replaceAll(/\u001b\[\d+m/g, ""), what).not.toMatch(STEERING);
  expect(text, what).not.toMatch(/^forged/m);
};

describe("a text of others that would steer the terminal", () => {
  it("is written out whole, marks of direction too", () => {
    expect(plainText("a\u200eb\u200fc\u061cd\u007f")).toBe("a\\u200eb\\u200fc\\u061cd\\u007f");
    expectPlain(WRITTEN);
  });

  it.each([unpainted, painted])("is plain in every field of a described task", (paint) => {
    const task = {
      ...TASK_CANCELLING,
      key: HOSTILE,
      runsAgain: true,
      waitsFor: "postponed" as const,
      postponedFor: HOSTILE,
      taken: { by: HOSTILE, until: null },
      refused: [{ type: "t", detail: HOSTILE, code: "unknown-type" as const }],
      interrupted: [
        { at: HOSTILE, reason: HOSTILE, service: { id: "s", name: HOSTILE }, takenBy: null, detail: HOSTILE },
        { at: HOSTILE, reason: HOSTILE, service: null, takenBy: HOSTILE, detail: null },
      ],
      lastError: { name: HOSTILE, message: HOSTILE, stack: `at ${HOSTILE}`, group: "g", at: null },
      output: { [HOSTILE]: HOSTILE },
      params: { [HOSTILE]: HOSTILE },
    };
    const text = describeTask(task as never, { paint, nowMs: NOW_MS });
    expectPlain(text);
    expect(text).toContain(`Key:            ${WRITTEN}, newer params wait for its end\n`);
    expect(text).toContain(`Waits for:      postponed: ${WRITTEN}\n`);
    expect(text).toContain(`Refused:        t: ${WRITTEN}\n`);
  });

  it("tells from which pool a task is to be taken that waits for that", () => {
    const waiting = { ...TASK_CANCELLING, waitsFor: "taker" as const, pool: "walls" };
    const text = describeTask(waiting as never, { paint: unpainted, nowMs: NOW_MS });
    expect(text).toContain("Waits for:      taker: somebody who takes from the pool walls\n");
  });

  it.each([unpainted, painted])("is plain in every field of a described service", (paint) => {
    const service = serviceView({
      version: HOSTILE,
      host: HOSTILE,
      notConsuming: HOSTILE,
      endedAt: "2026-01-01T23:00:00.000Z",
      endReason: HOSTILE as never,
      types: [HOSTILE],
      brokerLoss: { why: HOSTILE } as never,
      brokenFiles: [{ file: HOSTILE, problem: HOSTILE, excerpt: HOSTILE }],
    });
    const items = [{ ...TASK_CANCELLING, type: HOSTILE, status: HOSTILE as never, service: { id: HOSTILE, name: HOSTILE } }];
    const tasks = { items, total: 2, isTotalExact: true, nextCursor: null };
    const text = describeService(onService(service, { tasks }), { paint, nowMs: NOW_MS });
    expectPlain(text);
    expect(text).toContain(`   ${WRITTEN}   `);
    expect(text).toContain(`Version:        ${WRITTEN}\n`);
    expect(text).toContain(`Process:        4711 on ${WRITTEN}\n`);
    expect(text).toContain(`(1h ago): ${WRITTEN}\n`);
  });

  it.each([unpainted, painted])("is plain in every field of a described observer", (paint) => {
    const observer = observerView({
      labels: { [HOSTILE]: HOSTILE },
      params: { [HOSTILE]: [HOSTILE] },
      rejectedUpdate: {
        specVersion: 2,
        reason: HOSTILE,
        at: "2026-01-01T23:00:00.000Z",
        keeps: { specVersion: 1, params: {} },
      },
      lastError: { name: HOSTILE, message: HOSTILE, stack: HOSTILE, group: "g", at: null },
    });
    const runs = [runView({ endReason: "failed" as never, interruption: HOSTILE })];
    expectPlain(describeObserver({ observer, runs, services: [] }, { paint, nowMs: NOW_MS }));
  });

  it("is plain in a list of every format", () => {
    const look = { paint: painted, nowMs: NOW_MS };
    for (const format of OUTPUT_FORMATS) {
      const printed = [
        printOne(SERVICE_LISTING, serviceView({ name: HOSTILE, host: HOSTILE, version: HOSTILE }), { format, ...look }),
        printOne(TASK_LISTING, { ...TASK_CANCELLING, id: HOSTILE, taken: { by: HOSTILE, until: null } } as never, {
          format,
          ...look,
        }),
        printOne(TIMER_LISTING, { ...WAITING, id: HOSTILE, name: HOSTILE } as never, {
          format,
          ...look,
        }),
      ].join("");
      // A document has line breaks of its own, behind which the text is indented.
      expectPlain(printed, format);
    }
  });

  it("is plain in what an author has logged or emitted", () => {
    const at = "2026-01-02T00:00:00.000Z";
    const run = { id: "r", service: { name: HOSTILE } } as never;
    for (const format of ["table", "json"] as const) {
      const log = {
        kind: "log",
        at,
        level: "info",
        message: HOSTILE,
        fields: { [HOSTILE]: HOSTILE },
        stack: HOSTILE,
        cut: false,
      };
      expectPlain(logLine({ entry: log as never, run }, format, painted), format);
      const emit = { kind: "emit", at, value: HOSTILE, cut: true };
      expectPlain(logLine({ entry: emit as never, run }, format, painted), format);
    }
    const line = logLine({ entry: { kind: "emit", at, value: HOSTILE, cut: false } as never, run }, "json", unpainted);
    expect(JSON.parse(line)).toMatchObject({ value: HOSTILE, service: HOSTILE });
  });
});

describe("a document", () => {
  const value = {
    [HOSTILE]: [HOSTILE, "\u200eonly a mark", "two\nlines\u009b, folded ".repeat(20), "plain", 5, null, ["\ud800"]],
  };

  it("has the same value in characters that steer nothing", () => {
    for (const indent of [0, 2]) {
      expectPlain(jsonText(value, indent));
      expect(JSON.parse(jsonText(value, indent))).toEqual(value);
    }
    expectPlain(yamlText(value));
    expect(parse(yamlText(value))).toEqual(value);
    expect(jsonText("\u009b\u007f\u200e")).toBe('"\\u009b\\u007f\\u200e"');
    expect(jsonText(undefined)).toBe("null");
  });

  const words = `${"word ".repeat(20)}end`;

  it.each([
    ["a long first line that begins with a space", ` ${words}\nsecond\n`],
    ["a first line that begins with a space", " first\nsecond"],
    ["spaces alone, and a line break", " \n"],
    ["empty lines alone", "\n \n"],
    ["a mark of byte order", "\ufeffa"],
    ["a long line", words],
    ["a second line of spaces alone", `${words}\n \n\n \nend`],
  ])("has the same text where it is %s: as a value, as a key, and alone", (_, text) => {
    for (const each of [{ params: { text } }, [[text]], { [text]: text }, text]) expect(parse(yamlText(each))).toEqual(each);
  });

  it("has the same value of whatever texts", () => {
    const pieces = ["a", " ", "\n", "\t", "#", ": ", "- ", "|", "'", '"', "\\", "---", "\r", "é", "\ufeff", "\u2028", words];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((each) => each.join(""));
    const all = fc.oneof(text, fc.array(fc.array(text)), fc.dictionary(text, fc.dictionary(text, text)));
    fc.assert(
      fc.property(all, (each) => {
        expect(parse(yamlText(each))).toEqual(each);
      }),
      { numRuns: 500 },
    );
  });

  it("is a text of several lines as somebody would write it", () => {
    const script = `\n  set -e\n  echo ${words}\n\n`;
    expect(yamlText({ params: { script } })).toBe(`params:\n  script: |2+\n    \n      set -e\n      echo ${words}\n\n`);
    expect(yamlText({ script: `set -e\n\n  echo ${words}\n` })).toBe(`script: |\n  set -e\n\n    echo ${words}\n`);
  });

  it("is read again as what was listed, in pieces as whole", () => {
    const observers = ["a", "b"].map((name) => observerView({ name, params: value }));
    for (const [format, read] of [
      ["json", (text: string): unknown => JSON.parse(text)],
      ["yaml", (text: string): unknown => parse(text)],
    ] as const) {
      const printer = new ListPrinter(OBSERVER_LISTING, { format, paint: unpainted, nowMs: NOW_MS });
      const text = observers.map((each) => printer.rows([each])).join("") + printer.end();
      expectPlain(text, format);
      expect(read(text), format).toEqual({ items: observers });
    }
  });
});

describe("a command", () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  /** A command line in this process, of a manager that answers this to everything. */
  async function told(args: string[], answer: object): Promise<{ out: string; err: string }> {
    server = createServer((_request, response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const said = { out: "", err: "" };
    const io: Io = {
      ...QUIET_IO,
      out: (text) => void (said.out += text),
      err: (text) => void (said.err += text),
      env: { XDG_CONFIG_HOME: "/nowhere", UNACKED_URL: `http://127.0.0.1:${port}` },
      outIsTerminal: true,
      errIsTerminal: true,
      outColumns: () => 80,
      nowMs: () => NOW_MS,
    };
    await run(args, io);
    expectPlain(said.out, args.join(" "));
    expectPlain(said.err, args.join(" "));
    return said;
  }

  it("names who began a work in one line", async () => {
    const begunBy = { name: HOSTILE, role: "operator" as const };
    const page: WorkPage = { items: [{ ...WORK_UNDER_WAY, begunBy }], total: 1, isTotalExact: true, nextCursor: null };
    expect((await told(["work", "list"], page)).out).toContain(`  ${WRITTEN}  `);
  });

  it("prints a task's result as the value that it is", async () => {
    const output = { text: HOSTILE };
    const { out } = await told(["run", "resize", "--wait"], { ...CREATED, ...COMPLETED, output, outcome: "created" });
    expect(JSON.parse(out)).toEqual(output);
  });

  it("says why a flow has failed in one line", async () => {
    const { out } = await told(["flow", "cancel", FLOW_FAILED.id], { ...FLOW_FAILED, name: HOSTILE, reason: HOSTILE });
    expect(out).toContain(`"${WRITTEN}" is Failed: ${WRITTEN} (`);
    expect(out.split("\n")).toHaveLength(2);
  });

  it("names above a flow's tasks how to see who did what to it", async () => {
    const answer = { ...FLOW_FAILED, items: [], total: 0, nextCursor: null };
    const command = `unacked get audit --filter target=${FLOW_FAILED.id}`;
    expect((await told(["flow", "show", FLOW_FAILED.id], answer)).out).toContain(`Who did what: ${command} (for admins)\n`);
    expect((await told(["flow", "show", FLOW_FAILED.id, "-o", "name"], answer)).out).not.toContain("Who did what");
  });

  it("offers a shell only words that it takes as they are", async () => {
    const names = ["everyMs", "größe", HOSTILE, "a$(touch x)", "a`b`", "a b", "a;b", 'a"b', "a'b", "a\\b", "~", "*"];
    const paramsSchema = { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) };
    const types: TypeList = {
      ...TYPES,
      items: TYPES.items.slice(0, 1).map((each) => ({ ...each, type: "ticker", paramsSchema })),
    };
    const { out } = await told(["__complete", "--", "create", "ticker", "x", "--param", ""], types);
    expect(out).toBe("everyMs=\ngröße=\n");
  });

  it("writes what is put together of others by plainLine or a printer, and by nothing else", () => {
    const own = /\.(?:out|err)\(\s*`(?!\$\{(?:jsonText|line|lines|plainLine|token)\b|token: |\\u001b\[H)/;
    const files = readdirSync("cli/src", { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `cli/src/${file}`);
    expect(files.length).toBeGreaterThan(80);
    expect(files.filter((file) => own.test(readFileSync(file, "utf8")))).toEqual([]);
    expect(files.filter((file) => /(?:out|err)\([^;]*JSON\.stringify/.test(readFileSync(file, "utf8")))).toEqual([]);
  });
});
