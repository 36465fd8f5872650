import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  controlQueue,
  ERROR_QUEUE,
  EXCHANGES,
  newServiceId,
  outputKey,
  REQUEST_QUEUE,
  replyQueue,
  STATE_QUEUE,
  TASK_STATE_QUEUE,
  taskQueueName,
  workQueueName,
} from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { pages } from "../support/docs/pages.ts";
import { ROOT } from "../support/processes/processes.ts";

interface Rights {
  user: string;
  configure: string;
  write: string;
  read: string;
}

const definitions = JSON.parse(readFileSync(join(ROOT, "deploy/rabbitmq-definitions.json"), "utf8")) as {
  users: { name: string; password: string; tags: string }[];
  permissions: Rights[];
  topic_permissions: (Omit<Rights, "configure"> & { exchange: string })[];
};

const exchanges = Object.values(EXCHANGES).map(({ name }) => name);
const control = controlQueue(newServiceId(), 12).name;
const replies = replyQueue(newServiceId(), 3).name;
const work = workQueueName("default");
const tasks = taskQueueName("default");
const answers = "unacked.request-replies.unacked-requester.0f";
const everything = [
  ...exchanges,
  STATE_QUEUE,
  TASK_STATE_QUEUE,
  ERROR_QUEUE,
  work,
  workQueueName("other"),
  tasks,
  taskQueueName("other"),
  control,
  replies,
  REQUEST_QUEUE,
  answers,
  "unacked.request-replies.unacked-requester",
  "unacked.request-replies.other.0f",
  `${answers}.x`,
  // What is not ours, or would be if a pattern had no end.
  "amq.default",
  "amq.gen-x",
  "amq.topic",
  "mine",
  "",
  `x${STATE_QUEUE}`,
  `${STATE_QUEUE}2`,
  `${TASK_STATE_QUEUE}2`,
  `${control}x`,
  `${replies}x`,
  "unackedXstate",
];

const allowed = (user: string, right: keyof Omit<Rights, "user">): string[] => {
  const rights = definitions.permissions.find((each) => each.user === user) ?? expect.fail(`no ${user}`);
  return everything.filter((name) => new RegExp(rights[right]).test(name)).toSorted();
};

/** What a program does: a queue that is bound is written, and the exchange that it is bound to is read. */
describe("the rights on the broker", () => {
  it("of a manager: it declares all that is shared, sends starts and orders, and reads events and errors", () => {
    const ofPools = [work, workQueueName("other"), tasks, taskQueueName("other")];
    const shared = [STATE_QUEUE, TASK_STATE_QUEUE, ERROR_QUEUE, REQUEST_QUEUE, ...ofPools];
    const sentTo = ["start", "tasks", "control", "service", "events", "request-replies", "timers"].map(
      (name) => `unacked.${name}`,
    );
    expect(allowed("unacked-manager", "configure")).toEqual([...exchanges, ...shared, replies].toSorted());
    expect(allowed("unacked-manager", "write")).toEqual([...sentTo, ...shared, replies].toSorted());
    expect(allowed("unacked-manager", "read")).toEqual(
      [
        STATE_QUEUE,
        TASK_STATE_QUEUE,
        ERROR_QUEUE,
        REQUEST_QUEUE,
        replies,
        "unacked.requests",
        "unacked.events",
        "unacked.errors",
        "unacked.start",
        "unacked.tasks",
        "unacked.replies",
      ].toSorted(),
    );
  });

  it("of a service: it declares its control queue, sends events, errors, outputs and replies, and reads its work and its orders", () => {
    expect(allowed("unacked-service", "configure")).toEqual([control]);
    expect(allowed("unacked-service", "write")).toEqual(
      ["unacked.events", "unacked.errors", "unacked.output", "unacked.replies", control].toSorted(),
    );
    expect(allowed("unacked-service", "read")).toEqual(
      ["unacked.control", "unacked.service", work, tasks, control].toSorted(),
    );
  });

  it("of a program outside: it has queues for its own answers, asks, and hears what is sent under its own name", () => {
    expect(allowed("unacked-requester", "configure")).toEqual([answers]);
    expect(allowed("unacked-requester", "write")).toEqual([answers, "unacked.requests"].toSorted());
    expect(allowed("unacked-requester", "read")).toEqual([answers, "unacked.request-replies", "unacked.timers"].toSorted());
    const topics = definitions.topic_permissions.filter(({ user }) => user === "unacked-requester");
    expect(topics.map(({ exchange }) => exchange)).toEqual(["unacked.request-replies", "unacked.timers"]);
    for (const { read, write } of topics) {
      const mayBind = (key: string) => new RegExp(read).test(key);
      expect(["unacked-requester.x", "unacked-requester.#"].filter(mayBind)).toHaveLength(2);
      const others = ["#", "*.x", "unacked-requester", "unacked-requesterx.x", "other.unacked-requester.x"];
      expect(others.filter(mayBind)).toEqual([]);
      expect(write).toBe("^$");
    }
  });

  it("let a service emit under type and name of any observer, and under nothing else", () => {
    const [topic] = definitions.topic_permissions;
    expect(topic).toMatchObject({ user: "unacked-service", exchange: "unacked.output" });
    const mayWrite = (key: string) => new RegExp(topic?.write ?? "").test(key);
    for (const key of [outputKey("price-watch", "demo-BTC-USD"), outputKey("a.b_c-d", "x:y.z-1")])
      expect(mayWrite(key)).toBe(true);
    for (const key of ["", "shout", "#", "a.*", "a.b c", "a.b\n"]) expect(mayWrite(key)).toBe(false);
  });

  it("come with users that are no administrators, and with no password", () => {
    expect(definitions.users.map(({ password, tags }) => [password, tags])).toEqual([
      ["MANAGER_PASSWORD", ""],
      ["SERVICE_PASSWORD", ""],
      ["REQUESTER_PASSWORD", ""],
    ]);
    // RabbitMQ 3.10 stops an import half-way at a policy that it does not know.
    expect(Object.keys(definitions).sort()).toEqual(["permissions", "topic_permissions", "users", "vhosts"]);
  });
});

describe("the docs", () => {
  it("have what the script prints imported, and not the file: by that each user's password becomes the word in its place", () => {
    const told = pages.map((page) => [page, readFileSync(join(ROOT, page), "utf8").replaceAll(/\s+/g, " ")] as const);
    const ofFile = told.filter(([, text]) => /[Ii]mports?(?:_definitions)? [^.]{0,20}rabbitmq-definitions\.json/.test(text));
    expect(ofFile.map(([page]) => page)).toEqual([]);
    const ofScript = told.filter(([, text]) => /[Ii]mport what `(?:deploy\/)?rabbitmq-definitions\.sh`/.test(text));
    expect(ofScript.map(([page]) => page).toSorted()).toEqual([
      "docs/deploy.md",
      "docs/runbooks/requests-wait.md",
      "docs/runbooks/state-queue-unread.md",
      "docs/runbooks/timers-late.md",
      "docs/upgrade.md",
    ]);
  });
});

describe("the passwords", () => {
  const render = (env: Record<string, string>) =>
    spawnSync("sh", [join(ROOT, "deploy/rabbitmq-definitions.sh")], {
      env: { PATH: process.env.PATH, ...env },
      encoding: "utf8",
    });

  it("come from the environment", () => {
    const { stdout, status } = render({ MANAGER_PASSWORD: "Aa0._~-", SERVICE_PASSWORD: "b" });
    expect(status).toBe(0);
    const { users } = JSON.parse(stdout) as typeof definitions;
    expect(users.map(({ password }) => password)).toEqual(["Aa0._~-", "b", undefined]);
    expect(users[2]).toMatchObject({ name: "unacked-requester", password_hash: "" }); // it has none, and cannot come in
    const all = render({ MANAGER_PASSWORD: "a", SERVICE_PASSWORD: "b", REQUESTER_PASSWORD: "c~" }).stdout;
    expect((JSON.parse(all) as typeof definitions).users.map(({ password }) => password)).toEqual(["a", "b", "c~"]);
  });

  it.each([
    ["is missing", { SERVICE_PASSWORD: "b" }, "MANAGER_PASSWORD is not set"],
    ["is empty", { MANAGER_PASSWORD: "a", SERVICE_PASSWORD: "" }, "SERVICE_PASSWORD is not set"],
    [
      "would break out",
      { MANAGER_PASSWORD: 'a", "tags": "administrator', SERVICE_PASSWORD: "b" },
      "MANAGER_PASSWORD may have",
    ],
    [
      "would break out",
      { MANAGER_PASSWORD: "a", SERVICE_PASSWORD: "b", REQUESTER_PASSWORD: 'a"' },
      "REQUESTER_PASSWORD may have",
    ],
    ["would need escaping", { MANAGER_PASSWORD: "a", SERVICE_PASSWORD: "a/b" }, "SERVICE_PASSWORD may have"],
  ])("that %s is named, and nothing is printed", (_, env, complaint) => {
    const { stdout, stderr, status } = render(env as Record<string, string>);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(complaint);
  });
});
