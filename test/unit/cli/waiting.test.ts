import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PROBLEMS } from "@unacked/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { EXIT_CODES } from "../../../cli/src/failure.ts";
import { run } from "../../../cli/src/program.ts";
import {
  BALANCE,
  BALANCING,
  REBALANCE,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/balance-examples.ts";
import {
  WORK_BEGUN,
  WORK_CANCELLED,
  WORK_DONE,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/bulk-work-examples.ts";
import {
  FLOW_AGAIN,
  FLOW_COMPLETED,
  FLOW_CREATED,
  FLOW_FAILED,
  FLOW_ID,
  FLOW_RUNNING,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/flow-examples.ts";
import {
  CREATED as CREATED_OBSERVER,
  PROCESSING,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/observer-examples.ts";
import {
  DRAINED_SERVICE,
  DRAINING_SERVICE,
  RELOADED_SERVICE,
  RELOADING_SERVICE,
  SERVICE,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/service-examples.ts";
import {
  COMPLETED,
  CREATED,
  READY,
  TASK_FAILED,
  TASK_ID,
} from "../../../services/observer-manager/src/adapters/http/openapi/examples/task-examples.ts";
import { QUIET_IO } from "./quiet-io.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

type Answer = Parameters<RequestListener>[1];

type Answering = (response: Answer) => void;

/** `unacked run … --wait` against a manager that answers in turn. */
function runAndWait(...answers: Answering[]): Promise<{ code: number; out: string; err: string }> {
  let asked = 0;
  return unacked(["run", "resize", "--id", TASK_ID, "--wait"], () => answers[asked++]);
}

/** @param saysAll whether it is interrupted, having said this */
async function unacked(
  words: string[],
  answering: (path: string) => Answering | undefined,
  saysAll: (told: { out: string; err: string }) => boolean = () => false,
): Promise<{ code: number; out: string; err: string }> {
  server = createServer((request, response) => {
    request.resume();
    answering(request.url ?? "")?.(response);
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const told = { out: "", err: "" };
  const interrupting = new AbortController();
  const code = await run([...words, "--url", `http://127.0.0.1:${port}`], {
    ...QUIET_IO,
    out: (text) => {
      told.out += text;
      if (saysAll(told)) interrupting.abort();
    },
    err: (text) => {
      told.err += text;
      if (saysAll(told)) interrupting.abort();
    },
    env: { XDG_CONFIG_HOME: "/nowhere" },
    interruption: () => AbortSignal.any([interrupting.signal, AbortSignal.timeout(20_000)]),
    takeSignals: () => ({ signal: interrupting.signal, release: () => undefined }),
  });
  return { code, ...told };
}

const json =
  (value: object, status = 200, type = "application/json") =>
  (response: Answer) =>
    void response.writeHead(status, { "content-type": type }).end(JSON.stringify(value));
const page = (status: number) => (response: Answer) =>
  void response.writeHead(status, { "content-type": "text/html" }).end("<p>");
const tooMany = { ...PROBLEMS["too-many-requests"], type: "urn:x", detail: "60 a minute", requestId: "r" };

it("A wait goes on over a proxy that finds no manager, and over being asked too often", async () => {
  const { code, out, err } = await runAndWait(
    json(CREATED, 201),
    page(502),
    page(504),
    json({ ...tooMany, code: "too-many-requests" }, 429, "application/problem+json"),
    json({ ...COMPLETED, output: { bytes: 7 } }),
  );
  expect(err).toContain("trying again");
  expect([code, JSON.parse(out)]).toEqual([EXIT_CODES.ok, { bytes: 7 }]);
});

it("A create of which a proxy gives no answer may have come through: the id to repeat it with is told", async () => {
  const { code, err } = await runAndWait(page(504));
  expect(code).toBe(EXIT_CODES.unreachable);
  expect(err).toContain(`Repeat it with --id ${TASK_ID}`);
});

it.each([
  ["queue-latest", false],
  ["replace", false],
  ["return", true],
  ["reject", true],
])(
  "With --on-conflict %s its id is told to repeat it with only where no repeat could run it once more",
  async (onConflict, isSafe) => {
    const words = ["run", "resize", "--id", TASK_ID, "--key", "logo", "--on-conflict", onConflict];
    const { code, err } = await unacked(words, () => page(504));
    expect(code).toBe(EXIT_CODES.unreachable);
    expect(err.includes(`Repeat it with --id ${TASK_ID}`)).toBe(isSafe);
    expect(err.includes("unacked get tasks --filter type=resize")).toBe(!isSafe);
  },
);

it("So may a timer that was set, which would fire twice", async () => {
  const { code, err } = await unacked(["timer", "tea.ready", "--in", "5s"], () => page(504));
  expect(code).toBe(EXIT_CODES.unreachable);
  expect(err).toMatch(/Repeat it with --id [0-9a-f-]{36}/);
});

/** Nothing changes by itself. */
const stream: Answering = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write('event: ready\nid: 1\ndata: {"cursor":"1"}\n\n');
};

it("A wait for observers goes on over a manager that cannot be reached between its stream and what it is asked then", async () => {
  const observers = [json(CREATED_OBSERVER), page(502), page(504), json(PROCESSING)];
  const { code, out, err } = await unacked(["wait", CREATED_OBSERVER.name, "--for", "Processing"], (path) =>
    path.includes("/observers/") ? observers.shift() : stream,
  );
  expect([code, out]).toEqual([EXIT_CODES.ok, `observer ${PROCESSING.name} is Processing\n`]);
  expect(err.match(/trying again/g)).toHaveLength(1);
});

/** The connection breaks in the middle of what it says. */
const broken: Answering = (response) => {
  response.writeHead(503, { "content-type": "application/problem+json", "content-length": 99 });
  response.write("{", () => response.destroy());
};

it("A wait goes on over a manager that breaks off as it refuses its stream", async () => {
  const streams = [broken, stream];
  const observers = [json(CREATED_OBSERVER), json(PROCESSING)];
  const { code, err } = await unacked(["wait", PROCESSING.name, "--for", "Processing"], (path) =>
    path.includes("/observers/") ? observers.shift() : streams.shift(),
  );
  expect(err).toContain("trying again");
  expect(code).toBe(EXIT_CODES.ok);
});

it.each([
  ["create", ["create", PROCESSING.type, PROCESSING.name, "--wait"]],
  ["drain", ["drain", SERVICE.name, "--wait"]],
  ["reload", ["reload", SERVICE.name]],
])(
  "What %s has begun is waited for, also where the manager is away as its changes are first to be followed",
  async (_, words) => {
    const streams = [page(502), page(503), stream];
    const { code, err } = await unacked(words, (path) => {
      if (path.endsWith("/batch")) return json({ results: [{ status: 201, observer: CREATED_OBSERVER }] });
      if (path.endsWith("/drain")) return json(DRAINING_SERVICE, 202);
      if (path.endsWith("/reload")) return json(RELOADING_SERVICE, 202);
      if (path.includes("/observers/")) return json(PROCESSING);
      if (path.includes("/services"))
        return json({ items: [words[0] === "drain" ? DRAINED_SERVICE : RELOADED_SERVICE], total: 1 });
      return streams.shift();
    });
    expect(code).toBe(EXIT_CODES.ok);
    expect(err.match(/trying again/g)).toHaveLength(1);
  },
);

it("A wait for an observer that no worker is free for says so when its time is up", async () => {
  const { code, err } = await unacked(["wait", CREATED_OBSERVER.name, "--for", "Processing", "--timeout", "2s"], (path) => {
    if (path.includes("/observers/")) return json(CREATED_OBSERVER);
    return path.includes("/services") ? json({ items: [], total: 0 }) : stream;
  });
  expect(code).toBe(EXIT_CODES.timedOut);
  expect(err).toContain(`is Created, and waits for a service of pool ${CREATED_OBSERVER.pool}: none is alive`);
});

it("A wait whose time is up says nothing of services that it could not ask for", async () => {
  const { code, err } = await unacked(["wait", CREATED_OBSERVER.name, "--for", "Processing", "--timeout", "1s"], (path) => {
    if (path.includes("/observers/")) return json(CREATED_OBSERVER);
    return path.includes("/services") ? page(502) : stream;
  });
  expect(code).toBe(EXIT_CODES.timedOut);
  expect(err).toMatch(/is Created\.\n$/);
});

const silent: Answering = () => undefined;

it.each([
  ["run", ["run", "resize", "--wait"], `task ${TASK_ID} is still Ready`],
  ["rebalance", ["rebalance", BALANCE.pool, "--wait"], `pool ${BALANCE.pool} is not even`],
  [
    "wait",
    ["wait", CREATED_OBSERVER.name, "--for", "Processing"],
    `Not Processing within 1000 ms: ${CREATED_OBSERVER.name}`,
  ],
  ["drain", ["drain", SERVICE.name, "--wait"], `service ${SERVICE.name} is not drained`],
  ["reload", ["reload", SERVICE.name], `service ${SERVICE.name} has not answered`],
])("The time that %s may wait is over when it is, also where the manager hangs as it is asked", async (_, words, said) => {
  const first = [json(CREATED_OBSERVER)]; // which `wait` finds by its name
  const beganMs = performance.now();
  const { code, err } = await unacked([...words, "--timeout", "1s", "--request-timeout", "20s"], (path) => {
    if (path.endsWith("/tasks")) return json(CREATED, 201);
    if (path.endsWith("/rebalance")) return json(BALANCING, 202);
    if (path.endsWith("/drain")) return json(DRAINING_SERVICE, 202);
    if (path.endsWith("/reload")) return json(RELOADING_SERVICE, 202);
    if (path.includes("/observers/")) return first.shift() ?? silent;
    return path.endsWith("/events") ? stream : silent;
  });
  expect(err).toContain(said);
  expect(code).toBe(EXIT_CODES.timedOut);
  expect(performance.now() - beganMs).toBeLessThan(15_000);
});

it("A wait that has no time finds what is there already", async () => {
  const { code, out } = await unacked(["wait", PROCESSING.name, "--for", "Processing", "--timeout", "0s"], (path) =>
    path.includes("/observers/") ? json(PROCESSING) : stream,
  );
  expect([code, out]).toEqual([EXIT_CODES.ok, `observer ${PROCESSING.name} is Processing\n`]);
});

describe("Behind a proxy that holds back the stream of changes", () => {
  it("a wait ends at once where all are there", async () => {
    const { code, out } = await unacked(["wait", PROCESSING.name, "--for", "Processing", "--timeout", "24h"], (path) =>
      path.includes("/observers/") ? json(PROCESSING) : silent,
    );
    expect([code, out]).toEqual([EXIT_CODES.ok, `observer ${PROCESSING.name} is Processing\n`]);
  });

  it("a wait looks once more when its time is up", async () => {
    const looks = [json(CREATED_OBSERVER), json(PROCESSING)];
    const { code, out } = await unacked(["wait", PROCESSING.name, "--for", "Processing", "--timeout", "300ms"], (path) =>
      path.includes("/observers/") ? looks.shift() : silent,
    );
    expect([code, out]).toEqual([EXIT_CODES.ok, `observer ${PROCESSING.name} is Processing\n`]);
  });

  it("what was created is waited for likewise", async () => {
    const words = ["create", PROCESSING.type, PROCESSING.name, "--wait", "--timeout", "300ms"];
    const { code } = await unacked(words, (path) => {
      if (path.endsWith("/batch")) return json({ results: [{ status: 201, observer: CREATED_OBSERVER }] });
      return path.includes("/observers/") ? json(PROCESSING) : silent;
    });
    expect(code).toBe(EXIT_CODES.ok);
  });
});

it("An observer that is watched by its id is told of, in whatever case the id was typed", async () => {
  const answering = (path: string): Answering => {
    if (path.includes("/observers/")) return json(PROCESSING);
    return (response) => {
      stream(response);
      response.write(`event: observer\nid: 2\ndata: ${JSON.stringify(PROCESSING)}\n\n`);
    };
  };
  const { out } = await unacked(["watch", PROCESSING.id.toUpperCase(), "-o", "name"], answering, (told) => told.out !== "");
  expect(out).toBe(`${PROCESSING.name}\n`);
});

it("A wait for a drain goes on over such a manager, too", async () => {
  const services = [page(502), json({ items: [DRAINED_SERVICE], total: 1 })];
  const { code, err } = await unacked(["drain", DRAINED_SERVICE.name, "--wait"], (path) => {
    if (path.endsWith("/drain")) return json(DRAINING_SERVICE, 202);
    return path.includes("/services") ? services.shift() : stream;
  });
  expect(code).toBe(EXIT_CODES.ok);
  expect(err).toContain("trying again");
});

it("A wait for what nothing is selected for fails, unless all shall be Deleted: a mistyped label is not all well", async () => {
  const none = () => json({ items: [], total: 0, isTotalExact: true, nextCursor: null });
  const { code, out, err } = await unacked(["wait", "-l", "app=wacth", "--for", "Processing"], none);
  expect({ code, out }).toEqual({ code: EXIT_CODES.failed, out: "" });
  expect(err).toContain("error: No observer is selected");
  expect(await unacked(["wait", "-l", "app=watch", "--for", "Deleted"], none)).toMatchObject({
    code: EXIT_CODES.ok,
    err: "",
  });
});

it("A wait for a reload goes on over such a manager, too", async () => {
  const services = [page(502), json({ items: [RELOADED_SERVICE], total: 1 })];
  const { code, out, err } = await unacked(["reload", RELOADING_SERVICE.name], (path) => {
    if (path.endsWith("/reload")) return json(RELOADING_SERVICE, 202);
    return path.includes("/services") ? services.shift() : stream;
  });
  expect([code, out]).toEqual([EXIT_CODES.ok, expect.stringContaining("has loaded its folder again")]);
  expect(err).toContain("trying again");
});

it("A wait for a drain that somebody takes back meanwhile ends by that, and not with the time", async () => {
  const { code, err } = await unacked(["drain", DRAINED_SERVICE.name, "--wait", "--timeout", "20s"], (path) => {
    if (path.endsWith("/drain")) return json(DRAINING_SERVICE, 202);
    return path.includes("/services") ? json({ items: [{ ...DRAINING_SERVICE, draining: false }], total: 1 }) : stream;
  });
  expect(code).toBe(EXIT_CODES.failed);
  expect(err).toContain("takes work again: its drain was taken back");
  expect(err).not.toContain("It goes on");
});

it("A wait for a drain goes on over a connection of the service that is cut, as it comes back", async () => {
  const gone = { ...DRAINING_SERVICE, state: "Gone", endedAt: SERVICE.lastSeenAt, endReason: "its control queue is gone" };
  const { code, out, err } = await unacked(["drain", SERVICE.name, "--wait", "--timeout", "20s"], (path) => {
    if (path.endsWith("/drain")) return json(DRAINING_SERVICE, 202);
    if (path.includes("/services")) return json({ items: [gone], total: 1 });
    return (response) => {
      stream(response);
      setTimeout(() => response.write(`event: service\nid: 2\ndata: ${JSON.stringify(DRAINED_SERVICE)}\n\n`), 300);
    };
  });
  expect(err).toContain("waiting for it to come back");
  expect([code, out]).toEqual([EXIT_CODES.ok, expect.stringContaining("is drained")]);
});

it("A service that is told of as it was before the drain is asked how it is now", async () => {
  const services = [DRAINING_SERVICE, DRAINED_SERVICE].map((one) => json({ items: [one], total: 1 }));
  const { code } = await unacked(["drain", SERVICE.name, "--wait", "--timeout", "20s"], (path) => {
    if (path.endsWith("/drain")) return json(DRAINING_SERVICE, 202);
    if (path.includes("/services")) return services.shift();
    return (response) => {
      stream(response);
      response.write(`event: service\nid: 2\ndata: ${JSON.stringify(SERVICE)}\n\n`);
    };
  });
  expect(code).toBe(EXIT_CODES.ok);
});

it.each([
  ["cancelled", WORK_CANCELLED, EXIT_CODES.failed, "was cancelled by bob: 2498 of 9412 done"],
  ["done", { ...WORK_DONE, failed: 0, refused: [] }, EXIT_CODES.ok, ""],
])("A wait for bulk work that is %s says by its exit code whether all is done", async (_, end, exitCode, said) => {
  const { code, out, err } = await unacked(["work", "begin", "pause", "--selector", "team=web", "--wait"], (path) =>
    path.endsWith("/work") ? json(WORK_BEGUN, 201) : json(end),
  );
  expect(out).toContain(`pause ${end.status}`);
  expect([code, err]).toEqual([exitCode, expect.stringContaining(said)]);
});

it("A wait for bulk work says meanwhile why no step of it is done, and says it once", async () => {
  const waiting = json({ ...WORK_BEGUN, waitsFor: "its last step failed, and is tried again: deadlock detected" });
  const looks = [waiting, waiting, json({ ...WORK_DONE, failed: 0, refused: [] })];
  const { code, err } = await unacked(["work", "begin", "pause", "--all", "--wait"], (path) =>
    path.endsWith("/work") ? json(WORK_BEGUN, 201) : looks.shift(),
  );
  expect(err).toBe(`work ${WORK_BEGUN.id} waits: its last step failed, and is tried again: deadlock detected\n`);
  expect(code).toBe(EXIT_CODES.ok);
});

const endedAt = REBALANCE.begunAt;

it.each([
  ["even", EXIT_CODES.ok],
  ["stalled", EXIT_CODES.failed],
  ["cancelled", EXIT_CODES.failed],
] as const)(
  "A wait for a rebalance that is over as %s says by its exit code whether the pool is even",
  async (outcome, exitCode) => {
    const { code, out } = await unacked(["rebalance", BALANCE.pool, "--wait"], (path) =>
      path.endsWith("/rebalance")
        ? json(BALANCING, 202)
        : json({ ...BALANCE, moves: outcome === "even" ? 0 : 3, rebalance: { ...REBALANCE, endedAt, outcome } }),
    );
    expect(out).toContain(outcome);
    expect(code).toBe(exitCode);
  },
);

it.each([
  ["with --wait it fails", ["--wait"], EXIT_CODES.failed],
  ["without, that is the answer", [], EXIT_CODES.ok],
  ["as that of a dry run is", ["--wait", "--dry-run"], EXIT_CODES.ok],
])("A pool that is not even, and of which nothing can be moved: %s", async (_, flags, exitCode) => {
  const waits = "those with room do not know the types of what could move";
  const { code, out, err } = await unacked(["rebalance", BALANCE.pool, ...flags], () =>
    json({ ...BALANCE, moves: 0, waits, rebalance: { ...REBALANCE, endedAt, outcome: "even" } }),
  );
  expect(out).toContain("is not even");
  expect(code).toBe(exitCode);
  if (exitCode === EXIT_CODES.failed)
    expect(err).toContain(`pool ${BALANCE.pool} is not even, and nothing can be moved now: ${waits}`);
});

describe("a wait for a task or a flow by its id", () => {
  const missing = (code: "task-not-found" | "flow-not-found" | "observer-not-found") =>
    json({ ...PROBLEMS[code], type: "urn:x", detail: "none", requestId: "r", code }, 404, "application/problem+json");
  const knownTasks =
    (...looks: object[]) =>
    (path: string): Answering | undefined => {
      if (path.includes(`/tasks/${TASK_ID}`))
        return json(looks.length > 1 ? (looks.shift() as object) : (looks[0] as object));
      if (path.includes("/tasks/")) return missing("task-not-found");
      if (path.includes("/flows/")) return missing("flow-not-found");
      return path.includes("/observers") ? missing("observer-not-found") : undefined;
    };
  const knownFlows =
    (...looks: object[]) =>
    (path: string): Answering | undefined => {
      if (path.includes("/tasks/")) return missing("task-not-found");
      if (path.includes("/flows/")) return json(looks.length > 1 ? (looks.shift() as object) : (looks[0] as object));
      return path.includes("/observers") ? missing("observer-not-found") : undefined;
    };

  it.each([[["wait", TASK_ID]], [["wait", "task", TASK_ID]]])(
    "%s ends with the result, as run --wait does",
    async (words) => {
      const { code, out } = await unacked(words, knownTasks(READY, { ...COMPLETED, output: { bytes: 7 } }));
      expect([code, JSON.parse(out)]).toEqual([EXIT_CODES.ok, { bytes: 7 }]);
    },
  );

  it("fails as the task does", async () => {
    const { code, err } = await unacked(["wait", TASK_ID], knownTasks(TASK_FAILED));
    expect(code).toBe(EXIT_CODES.failed);
    expect(err).toContain(`error: task ${TASK_ID} is Failed`);
  });

  it.each([
    [FLOW_COMPLETED, EXIT_CODES.ok],
    [FLOW_FAILED, EXIT_CODES.failed],
  ])("ends as the flow does", async (end, exitCode) => {
    const { code, out } = await unacked(["wait", FLOW_ID], knownFlows(FLOW_RUNNING, end));
    expect(out).toContain(`flow ${FLOW_ID} "${end.name}" is ${end.status}`);
    expect(code).toBe(exitCode);
  });

  it("of several tells each, and fails if one of them has", async () => {
    const nobody = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2fff";
    const { code, out, err } = await unacked(["wait", nobody, TASK_ID], knownTasks(COMPLETED));
    expect(out).toBe(`task ${TASK_ID} is Completed\n`);
    expect(err).toMatch(/error: There is no task or flow .*\nerror: 1 of 2 did not complete\./);
    expect(code).toBe(EXIT_CODES.failed);
  });

  it("has an end", async () => {
    const { code, err } = await unacked(["wait", TASK_ID, "--timeout", "0s"], knownTasks(READY));
    expect(err).toContain(`task ${TASK_ID} is still Ready`);
    expect(code).toBe(EXIT_CODES.timedOut);
  });

  it.each([
    [["logs", TASK_ID], knownTasks(READY), `${TASK_ID} is a task, and no observer. See: unacked describe task ${TASK_ID}`],
    [["logs", "-f", TASK_ID], knownTasks(READY), `${TASK_ID} is a task`],
    [["wait", TASK_ID, "--for", "Completed"], knownTasks(READY), `unacked wait ${TASK_ID}`],
    [
      ["describe", FLOW_ID],
      knownFlows(FLOW_RUNNING),
      `${FLOW_ID} is a flow, and no observer. See: unacked flow show ${FLOW_ID}`,
    ],
    [["logs", CREATED_OBSERVER.id], knownTasks(READY), `observer ${CREATED_OBSERVER.id}: No such observer`],
  ])("%j says what the id is of", async (words, known, said) => {
    const { code, err } = await unacked(words, known);
    expect(err).toContain(said);
    expect(code).toBe(EXIT_CODES.failed);
  });

  it("stop says so of one among several", async () => {
    const { type, status, title } = { type: "urn:x", ...PROBLEMS["observer-not-found"] };
    const problem = { type, title, status, detail: title, code: "observer-not-found", remedy: "", requestId: "r" };
    const results = [TASK_ID, "w1"].map((ref) => ({ ref, status: 404, problem }));
    const { err } = await unacked(["stop", TASK_ID, "w1"], (path) =>
      path.endsWith("/stop") ? json({ results, accepted: 0, refused: 2 }) : knownTasks(READY)(path),
    );
    expect(err).toContain(`error: ${TASK_ID} is a task, and no observer. See: unacked describe task ${TASK_ID}`);
    expect(err).toContain("error: observer w1: No such observer.");
  });
});

it("flow rerun --wait ends as the flow does", async () => {
  const { code, out } = await unacked(["flow", "rerun", FLOW_ID, "--wait"], (path) =>
    json(path.endsWith("/rerun") ? FLOW_AGAIN : FLOW_FAILED),
  );
  expect(out).toContain(`is ${FLOW_FAILED.status}`);
  expect(code).toBe(EXIT_CODES.failed);
});

it.each([
  ["run", ["run", "resize", "--wait"], `Interrupted: task ${TASK_ID} is still Ready`, `unacked cancel ${TASK_ID}`],
  ["flow create", ["flow", "create", "a", "--wait"], `flow ${FLOW_ID} still runs`, `unacked flow cancel ${FLOW_ID}`],
])("Ctrl-C of %s --wait says that it goes on, and how to end it", async (_, words, said, remedy) => {
  const answering = (path: string): Answering => {
    if (path.endsWith("/tasks")) return json(CREATED, 201);
    return path.endsWith("/flows") ? json(FLOW_CREATED, 201) : silent;
  };
  const { code, err } = await unacked(words, answering, (told) => told.err.includes(" is "));
  expect(err).toContain(said);
  expect(err).toContain("It goes on. See: ");
  expect(err).toContain(remedy);
  expect(code).toBe(EXIT_CODES.interrupted);
});
