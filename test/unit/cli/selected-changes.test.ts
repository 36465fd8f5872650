import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ObserverStatus, ObserverView, ProblemCode } from "@unacked/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { EXIT_CODES } from "../../../cli/src/failure.ts";
import { run } from "../../../cli/src/program.ts";
import { problemExample } from "../../../services/observer-manager/src/adapters/http/openapi/examples/problem-examples.ts";
import { QUIET_IO } from "./quiet-io.ts";
import { observerView } from "./views.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

type Body = { ids?: string[]; names?: string[]; filter?: object };
type Result = { ref: string; status: number; observer: ObserverView } | { ref: string; status: number; problem: object };

const P1 = observerView({ id: "01936f5e-0000-7000-8000-000000000001", name: "p1", status: "Paused" });
const P2 = observerView({ id: "01936f5e-0000-7000-8000-000000000002", name: "p2", status: "Paused" });
const refused = (ref: string, code: ProblemCode): Result => ({ ref, status: 409, problem: problemExample(code) });
const accepted = (observer: ObserverView): Result => ({ ref: observer.id, status: 202, observer });

const KEPT = { name: "kept", type: "ticker", params: { everyMs: 1_000 }, labels: { app: "a" } };

/** `unacked …` against a manager that lists these and answers a change so. @param becomes what each is as it is looked at by its id */
async function unacked(
  words: string[],
  listed: ObserverView[],
  changed: (body: Body) => Result[],
  { becomes = "Deleted", documents = KEPT }: { becomes?: ObserverStatus; documents?: object } = {},
): Promise<{ code: number; out: string; err: string; bodies: Body[] }> {
  const bodies: Body[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const say = (value: object, status = 200) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (request.method === "GET" && request.url?.endsWith("/events")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.write('event: ready\nid: 1\ndata: {"cursor":"1"}\n\n');
    }
    const one = listed.find(({ id }) => request.url?.endsWith(`/observers/${id}`));
    if (one !== undefined) return say({ ...one, status: becomes });
    const named = listed.find(({ name }) => request.url?.endsWith(`/observers/${name}`));
    if (named !== undefined) return say(named);
    if (request.url?.includes("/observers/gone")) return say(problemExample("observer-not-found"), 404);
    if (request.method === "GET") return say({ items: listed, total: listed.length, isTotalExact: true, nextCursor: null });
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Body;
    bodies.push(body);
    say({ results: changed(body) });
  };
  server = createServer((...call) => void answer(...call));
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const told = { out: "", err: "" };
  const code = await run([...words, "--url", `http://127.0.0.1:${(server.address() as AddressInfo).port}`], {
    ...QUIET_IO,
    out: (text) => void (told.out += text),
    err: (text) => void (told.err += text),
    readInput: () => JSON.stringify(documents),
    env: { XDG_CONFIG_HOME: "/nowhere" },
  });
  return { code, ...told, bodies };
}

it("What was selected is changed only where it matches still, and what does not is told", async () => {
  const words = ["stop", "--filter", "status=Paused", "-l", "team=a", "--wait"];
  const { code, out, err, bodies } = await unacked(words, [P1, P2], () => [accepted({ ...P2, status: "OnDeleting" })]);
  expect(bodies).toMatchObject([{ ids: [P1.id, P2.id], filter: { status: ["Paused"], labels: { team: "a" } } }]);
  expect(out).toBe("observer p2 is being stopped\nobserver p2 is Deleted\n");
  expect(err).toBe("observer p1 no longer matches: left as it is\n");
  expect(code).toBe(EXIT_CODES.ok);
});

it.each(["pause", "resume", "restart"])("So it is where %s prints what it selected", async (verb) => {
  const { code, out, err, bodies } = await unacked([verb, "--all", "-o", "name"], [P1, P2], () => [accepted(P2)]);
  expect(bodies).toMatchObject([{ ids: [P1.id, P2.id], filter: { status: expect.arrayContaining(["Paused"]) } }]);
  expect({ code, out, err }).toEqual({
    code: EXIT_CODES.ok,
    out: "p2\n",
    err: "observer p1 no longer matches: left as it is\n",
  });
});

it("Of what is named nothing has to match", async () => {
  const { bodies } = await unacked(["stop", P1.id, "p2"], [], () => [accepted(P1), { ...accepted(P2), ref: "p2" }]);
  expect(bodies).toEqual([{ ids: [P1.id], names: ["p2"], dryRun: false, force: false }]);
});

it("apply --prune stops only what has the label still", async () => {
  const kept = observerView({ name: "kept", labels: { app: "a" } });
  const words = ["apply", "-f", "-", "--prune", "-l", "app=a"];
  const { code, out, err, bodies } = await unacked(words, [kept, P1, P2], () => [accepted(P2)]);
  expect(bodies).toMatchObject([{ ids: [P1.id, P2.id], filter: { labels: { app: "a" } } }]);
  expect(out).toBe("observer kept unchanged (Processing)\nobserver p2 is being stopped: no file defines it\n");
  expect(err).toBe("observer p1 no longer matches: left as it is\n");
  expect(code).toBe(EXIT_CODES.ok);
});

it("Those that were accepted are waited for beside one that was refused, which fails the command", async () => {
  const results = [refused("p1", "not-activated"), { ...accepted({ ...P2, status: "OnDeleting" }), ref: "p2" }];
  const { code, out, err } = await unacked(["stop", "p1", "p2", "--wait"], [P1, P2], () => results);
  expect(out).toBe("observer p2 is being stopped\nobserver p2 is Deleted\n");
  expect(err).toMatch(/^error: observer p1: .*\nerror: 1 of 2 were refused\.\n$/);
  expect(code).toBe(EXIT_CODES.failed);
});

it("So they are by create", async () => {
  const results = [accepted({ ...P1, status: "Created" }), refused("p2", "name-taken")];
  const documents = ["p1", "p2"].map((name) => ({ ...KEPT, name }));
  const given = { becomes: "Processing" as const, documents };
  const { code, out, err } = await unacked(["create", "-f", "-", "--wait"], [P1], () => results, given);
  expect(out).toBe("observer p1 created\nobserver p1 is Processing on service-1\n");
  expect(err).toMatch(/^error: observer .*\nerror: 1 of 2 were refused\.\n$/);
  expect(code).toBe(EXIT_CODES.failed);
});

describe("What is being stopped already", () => {
  const results = [refused("p1", "already-deleting"), refused("gone", "already-deleted")];

  it("is waited for by stop --wait, and is no failure", async () => {
    const { code, out, err } = await unacked(["stop", "p1", "gone", "--wait"], [P1], () => results);
    expect({ code, out, err }).toEqual({
      code: EXIT_CODES.ok,
      out: "observer p1 is being stopped\nobserver p1 is Deleted\n",
      err: "observer gone is Deleted already\n",
    });
  });

  it("is so where it alone is named", async () => {
    const one = await unacked(["stop", "p1", "--wait"], [P1], () => results.slice(0, 1));
    expect(one).toMatchObject({ code: EXIT_CODES.ok, err: "" });
    const gone = await unacked(["stop", "gone", "--wait", "-o", "json"], [P1], () => results.slice(1));
    expect(gone).toMatchObject({ code: EXIT_CODES.ok, out: "", err: "observer gone is Deleted already\n" });
  });

  it("is refused without --wait, as ever", async () => {
    const { code, err } = await unacked(["stop", "p1", "gone"], [P1], () => results);
    expect([code, err]).toEqual([EXIT_CODES.failed, expect.stringContaining("2 of 2 were refused")]);
  });
});
