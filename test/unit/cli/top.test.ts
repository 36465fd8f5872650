import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { run } from "../../../cli/src/program.ts";
import { STATS } from "../../../services/observer-manager/src/adapters/http/openapi/examples/overview-examples.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** On a terminal, until Ctrl-C. */
async function top(answer: RequestListener, interruption: AbortSignal): Promise<{ code: number; out: string }> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let out = "";
  const code = await run(["top", "--interval", "200ms", "--url", `http://127.0.0.1:${port}`], {
    out: (text) => void (out += text),
    err: (text) => void (out += text),
    env: { XDG_CONFIG_HOME: "/nowhere" },
    outIsTerminal: true,
    errIsTerminal: true,
    outRows: () => 24,
    outColumns: () => 80,
    outIsClosed: () => false,
    readInput: () => "",
    nowMs: () => 0,
    interruption: () => interruption,
  });
  return { code, out };
}

test.each([
  ["the first picture", 0],
  ["the next one", 2],
])("Ctrl-C ends top at once, also while a manager does not answer: %s", async (_what, answered) => {
  const leaving = new AbortController();
  let asked = 0;
  const began = performance.now();
  const { code, out } = await top((request, response) => {
    asked += 1;
    if (asked > answered) return void setTimeout(() => leaving.abort(), 50);
    const body = request.url?.startsWith("/api/v1/stats") === true ? STATS : { items: [], total: 0 };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  }, leaving.signal);
  expect(code, out).toBe(0);
  expect(out.includes("workers")).toBe(answered > 0);
  expect(performance.now() - began).toBeLessThan(10_000); // an answer may take 30 s
});
