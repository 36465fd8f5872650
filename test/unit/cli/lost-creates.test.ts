import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { EXIT_CODES } from "../../../cli/src/failure.ts";
import { run } from "../../../cli/src/program.ts";
import { problemExample } from "../../../services/observer-manager/src/adapters/http/openapi/examples/problem-examples.ts";
import { QUIET_IO } from "./quiet-io.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const OBSERVERS = JSON.stringify([{ name: "w1", type: "ticker" }]);

/** @param interrupts as soon as it is asked */
async function unacked(line: string, answer: RequestListener, { interrupts = false } = {}) {
  const interrupting = new AbortController();
  server = createServer((request, response) => {
    request.resume();
    if (interrupts) interrupting.abort();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const told = { out: "", err: "", released: 0 };
  const code = await run([...line.split(" "), "--url", `http://127.0.0.1:${(server.address() as AddressInfo).port}`], {
    ...QUIET_IO,
    out: (text) => void (told.out += text),
    err: (text) => void (told.err += text),
    env: { XDG_CONFIG_HOME: "/nowhere" },
    readInput: () => OBSERVERS,
    takeSignals: () => ({ signal: interrupting.signal, release: () => void (told.released += 1) }),
  });
  return { code, ...told };
}

const answering =
  (status: number, type: string, body: string): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { "content-type": type }).end(body);
const problem = (code: Parameters<typeof problemExample>[0]) =>
  answering(problemExample(code).status, "application/problem+json", JSON.stringify(problemExample(code)));

const REPEAT = /Repeat it with --id [0-9a-f-]{36}\. Then it exists only once, even if this call came through\.\n/;

describe.each([
  ["run resize", REPEAT],
  ["flow create fetch parse", REPEAT],
  ["work begin pause --all", REPEAT],
  ["schedule run nightly", REPEAT],
  ["timer tea.ready --in 5s", REPEAT],
  ["create ticker w1", REPEAT],
  ["create -f -", /Repeat it: what was created is refused then, as its name is taken\.\n/],
])("%s", (line, remedy) => {
  it.each([
    ["a page of a proxy that refuses it", answering(403, "text/html", "<p>no"), EXIT_CODES.unexpectedAnswer],
    ["a page of a proxy that broke", answering(500, "text/html", "<p>oh"), EXIT_CODES.unexpectedAnswer],
    ["an answer that is none", answering(200, "application/json", '{"some":1}'), EXIT_CODES.unexpectedAnswer],
    ["a manager that failed", problem("internal-error"), EXIT_CODES.failed],
    ["a manager that is not ready", problem("not-ready"), EXIT_CODES.unreachable],
  ])("says after %s how to repeat it", async (_, answer, exitCode) => {
    const { code, err, released } = await unacked(line, answer);
    expect(err).toMatch(remedy);
    expect([code, released]).toEqual([exitCode, 1]);
  });

  it("says it where Ctrl-C ends it", async () => {
    const { code, err, released } = await unacked(line, () => undefined, { interrupts: true });
    expect(err).toMatch(/^error: Interrupted before the manager answered\. /);
    expect(err).toMatch(remedy);
    expect([code, released]).toEqual([EXIT_CODES.interrupted, 1]);
  });

  it.each(["forbidden", "unauthorized", "too-many-requests"] as const)(
    "says nothing of it where the manager refuses it (%s)",
    async (code) => {
      expect((await unacked(line, problem(code))).err).not.toContain("Repeat it");
    },
  );
});
