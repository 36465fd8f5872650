import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { fitting } from "../../../cli/src/commands/top.ts";
import { painted } from "../../../cli/src/output/colours.ts";
import { run } from "../../../cli/src/program.ts";
import { STATS } from "../../../services/observer-manager/src/adapters/http/openapi/examples/overview-examples.ts";
import { FIGURES_NOW } from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-figure-examples.ts";
import { QUIET_IO } from "./quiet-io.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** What a manager says that has no services. */
function bodyOf(url = "", stats: object = STATS): object {
  if (url.startsWith("/api/v1/stats")) return stats;
  return url.startsWith("/api/v1/task-figures") ? FIGURES_NOW : { items: [], total: 0 };
}

/** On a terminal, until Ctrl-C. */
async function top(answer: RequestListener, interruption: AbortSignal): Promise<{ code: number; out: string }> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let out = "";
  const code = await run(["top", "--interval", "200ms", "--url", `http://127.0.0.1:${port}`], {
    ...QUIET_IO,
    out: (text) => void (out += text),
    err: (text) => void (out += text),
    env: { XDG_CONFIG_HOME: "/nowhere" },
    outIsTerminal: true,
    errIsTerminal: true,
    outColumns: () => 80,
    nowMs: () => 0,
    interruption: () => interruption,
  });
  return { code, out };
}

test.each([
  ["the first picture", 0],
  ["the next one", 3],
])("Ctrl-C ends top at once, also while a manager does not answer: %s", async (_what, answered) => {
  const leaving = new AbortController();
  let asked = 0;
  const began = performance.now();
  const { code, out } = await top((request, response) => {
    asked += 1;
    if (asked > answered) return void setTimeout(() => leaving.abort(), 50);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(bodyOf(request.url)));
  }, leaving.signal);
  expect(code, out).toBe(0);
  expect(out.includes("workers")).toBe(answered > 0);
  expect(performance.now() - began).toBeLessThan(10_000); // an answer may take 30 s
});

test("top counts the rows that a line takes where it wraps: a picture of more than the screen would scroll", () => {
  const warning = painted("red", `! ${"x".repeat(198)}`); // three rows of 80
  const screen = { rows: 6, columns: 80 };
  expect(fitting([warning, "a", "b", "c"], screen)).toEqual([warning, "a", "b", "c"]);
  expect(fitting([warning, "a", "b", "c", "d"], screen)).toEqual([warning, "a", "b", "… and 2 more lines"]);
  expect(fitting([warning, warning, "a"], screen)).toEqual([warning, "… and 2 more lines"]);
  expect(fitting([painted("green", "x".repeat(80)), "a"], { rows: 2, columns: 80 })).toHaveLength(2);
});

test("A picture of top with its warnings is no higher than the screen", async () => {
  const leaving = new AbortController();
  const warning = { code: "no-free-worker", subject: "default", message: "m".repeat(150), remedy: "r".repeat(150) };
  let asked = 0;
  const { out } = await top((request, response) => {
    const stats = { ...STATS, warnings: Array.from({ length: 6 }, () => ({ ...STATS.warnings[0], ...warning })) };
    if (request.url?.startsWith("/api/v1/stats") === true && ++asked === 2) leaving.abort(); // the first picture has been drawn
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(bodyOf(request.url, stats)));
  }, leaving.signal);
  const [picture = ""] = out.split("\u001b[J");
  const rows = picture
    .replaceAll(/\u001b\[\d*[A-Za-z]/g, "")
    .split("\n")
    .map((line) => Math.ceil(line.length / 80) || 1);
  expect(picture).toContain("more lines");
  expect(rows.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(24);
});
