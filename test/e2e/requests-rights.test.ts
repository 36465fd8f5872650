import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Channel } from "amqplib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Requester } from "../support/broker/requester.ts";
import { Intruder, shippedDefinitions } from "../support/broker/restricted-broker.ts";
import { ROOT } from "../support/processes/processes.ts";
import { REQUESTER, RequestSystem } from "../support/system/requests.ts";

/* What the user of deploy/rabbitmq-definitions.json for programs outside can do: ask, and hear its own answers. */

let amqp: RequestSystem;
let intruder: Intruder;
let victim: Requester;

beforeAll(async () => {
  amqp = await RequestSystem.start();
  await amqp.startManager({ "unacked-requester": REQUESTER, victim: REQUESTER });
  await amqp.startWorker();
  intruder = await Intruder.connect(amqp.rights.requesterUrl);
  victim = await amqp.requester("victim");
});
afterAll(async () => {
  await intruder.close();
  await amqp.close();
});

const mine = "unacked.request-replies.unacked-requester.mine";
const publishTo = (exchange: string, key: string) => (channel: Channel) =>
  void channel.publish(exchange, key, Buffer.from("{}"));
const consume = (queue: string) => (channel: Channel) => channel.consume(queue, () => undefined);
const declare = (name: string, deadLetterExchange?: string) => (channel: Channel) =>
  channel.assertQueue(name, {
    exclusive: true,
    durable: false,
    ...(deadLetterExchange !== undefined && { deadLetterExchange }),
  });
const bindMine = (exchange: string, key: string) => async (channel: Channel) => {
  await declare(mine)(channel);
  await channel.bindQueue(mine, exchange, key);
};

it.each<[what: string, act: (channel: Channel) => unknown, resource: string]>([
  ["read the requests of others", consume("unacked.request"), "queue 'unacked.request'"],
  ["take a request of others", (channel) => channel.get("unacked.request"), "queue 'unacked.request'"],
  ["purge the requests", (channel) => channel.purgeQueue("unacked.request"), "queue 'unacked.request'"],
  ["delete the queue of requests", (channel) => channel.deleteQueue("unacked.request"), "queue 'unacked.request'"],
  ["read a work queue", consume("unacked.work.default"), "queue 'unacked.work.default'"],
  ["read a task queue", consume("unacked.tasks.default"), "queue 'unacked.tasks.default'"],
  ["read the state queue", consume("unacked.state"), "queue 'unacked.state'"],
  ["read the errors", consume("unacked.error"), "queue 'unacked.error'"],
  ["publish a start", publishTo("unacked.start", "default"), "exchange 'unacked.start'"],
  ["publish a task past the manager", publishTo("unacked.tasks", "default"), "exchange 'unacked.tasks'"],
  ["publish events", publishTo("unacked.events", "state"), "exchange 'unacked.events'"],
  ["publish orders", publishTo("unacked.control", ""), "exchange 'unacked.control'"],
  ["forge an answer", publishTo("unacked.request-replies", "victim.x"), "exchange 'unacked.request-replies'"],
  ["fire a timer", publishTo("unacked.timers", "unacked-requester.x"), "exchange 'unacked.timers'"],
  ["listen to timers of others", bindMine("unacked.timers", "victim.#"), "topic 'victim.#'"],
  ["listen to all timers", bindMine("unacked.timers", "#"), "topic '#'"],
  ["declare another's queue of timers", declare("unacked.timers.victim.x"), "queue 'unacked.timers.victim.x'"],
  ["delete the exchange of timers", (channel) => channel.deleteExchange("unacked.timers"), "exchange 'unacked.timers'"],
  ["publish past the exchanges", publishTo("", "unacked.work.default"), "exchange 'amq.default'"],
  ["listen to another's answers", bindMine("unacked.request-replies", "victim.#"), "topic 'victim.#'"],
  ["listen to all answers", bindMine("unacked.request-replies", "#"), "topic '#'"],
  ["listen to answers of one word", bindMine("unacked.request-replies", "*.x"), "topic '*.x'"],
  ["listen to requests", bindMine("unacked.requests", "tasks"), "exchange 'unacked.requests'"],
  ["listen to outputs", bindMine("unacked.output", "#"), "exchange 'unacked.output'"],
  ["declare a queue of another name", declare("mine"), "queue 'mine'"],
  ["declare another's queue", declare("unacked.request-replies.victim.x"), "queue 'unacked.request-replies.victim.x'"],
  ["have its dead letters go to the starts", declare(`${mine}-1`, "unacked.start"), "exchange 'unacked.start'"],
  ["have its dead letters go anywhere", declare(`${mine}-2`, ""), "exchange 'amq.default'"],
  ["delete the exchange of answers", (channel) => channel.deleteExchange("unacked.request-replies"), "exchange"],
])("It cannot %s", async (_what, act, resource) => {
  const answer = await intruder.attempt(act);
  expect(answer).toContain("ACCESS_REFUSED");
  expect(answer).toContain(resource);
});

it("It cannot read another's queue of answers: that is the other connection's own", async () => {
  const answer = await intruder.attempt(consume(`unacked.request-replies.${victim.replyTo}`));
  expect(answer).toMatch(/ACCESS_REFUSED/);
});

it("It can ask, and hears its own answer; the other hears nothing of it", async () => {
  const requester = await amqp.requester();
  expect(await requester.ask({ tasks: [amqp.work()] })).toMatchObject({ status: 200 });
  expect(victim.replies).toEqual([]);
});

it("The guide's example is run as it stands", async () => {
  const guide = readFileSync(`${ROOT}/docs/create-tasks.md`, "utf8");
  const section = guide.slice(guide.indexOf("## Over AMQP"));
  const [, example = ""] = /```js\n([\s\S]*?)```/.exec(section) ?? [];
  const params = JSON.stringify({ dir: amqp.tasks.dir });
  const script = example.replace('"send-invoice", params: { order: 4711 }', `"work", params: ${params}`);
  expect(script).not.toBe(example);
  const env = { ...process.env, AMQP_URL: amqp.rights.requesterUrl };
  const { stdout } = await promisify(execFile)("node", ["--input-type=module", "-e", script], {
    cwd: ROOT,
    env,
    timeout: 240_000,
  });
  expect(stdout).toMatch(/^200 \{"results":\[\{"status":201,"task":\{"id":"/);
});

it("Without REQUESTER_PASSWORD its user has no password, and nobody comes in by it", async () => {
  const text = JSON.stringify(shippedDefinitions({ REQUESTER_PASSWORD: "" })).replaceAll("unacked-requester", "closed");
  await amqp.system.management.call("POST", "/definitions", JSON.parse(text));
  for (const password of ["", "REQUESTER_PASSWORD", "requester-secret"])
    await expect(
      Requester.connect(amqp.rights.requesterUrl.replace(/\/\/.*@/, `//closed:${password}@`)),
      password,
    ).rejects.toThrow(/ACCESS.REFUSED/);
});
