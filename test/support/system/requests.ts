import type { ErrorEntry } from "@unacked/contracts";
import { Requester } from "../broker/requester.ts";
import { type RestrictedBroker, restrictedBroker } from "../broker/restricted-broker.ts";
import type { RunningProcess } from "../processes/processes.ts";
import { freshSystem, type System } from "./system.ts";
import { TASKS_DIR, Tasks } from "./tasks.ts";

/** What the user of deploy/ may ask for in tests. */
export const REQUESTER = {
  role: "operator",
  types: ["work", "slow"],
  pools: ["default"],
  timers: ["unacked-requester."],
  perMinute: 600_000,
};

/** A system under the rights of deploy/, whose managers take requests over AMQP. */
export class RequestSystem {
  readonly rights: RestrictedBroker;
  readonly system: System;
  readonly tasks: Tasks;
  readonly #requesters: Requester[] = [];

  private constructor(rights: RestrictedBroker, system: System) {
    this.rights = rights;
    this.system = system;
    this.tasks = new Tasks(system);
  }

  static async start(): Promise<RequestSystem> {
    const rights = await restrictedBroker();
    const { amqpUrl, management } = rights.broker;
    return new RequestSystem(rights, await freshSystem({ amqpUrl, management }));
  }

  startManager(users: object = { "unacked-requester": REQUESTER }, env: Record<string, string> = {}) {
    const settings = { AMQP_URL: this.rights.managerUrl, REQUEST_USERS: JSON.stringify(users), ...env };
    return this.system.startManager({ env: settings });
  }

  startWorker(name = "worker-1"): Promise<RunningProcess> {
    const { serviceUrl } = this.rights;
    const env = { AMQP_URL: serviceUrl, DECLARE_TOPOLOGY: "false", OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "4" };
    return this.system.startService(name, { env });
  }

  /** A program with that user. */
  async requester(user = "unacked-requester"): Promise<Requester> {
    const requester = await Requester.connect(await this.urlOf(user));
    this.#requesters.push(requester);
    return requester;
  }

  /** Another user of the broker, with the rights of the one in deploy/ under its own name, is made where it is missing. */
  async urlOf(user: string): Promise<string> {
    const { requesterUrl, broker } = this.rights;
    if (user === "unacked-requester") return requesterUrl;
    const { management } = broker;
    const own = `(request-replies|timers)\\.${user}\\.[A-Za-z0-9_-]{1,64}`;
    await management.call("PUT", `/users/${user}`, { password: "requester-secret", tags: "" });
    await management.call("PUT", `/permissions/{vhost}/${user}`, {
      configure: `^unacked\\.${own}$`,
      write: `^unacked\\.(requests|${own})$`,
      read: `^unacked\\.(request-replies|timers|${own})$`,
    });
    for (const exchange of ["unacked.request-replies", "unacked.timers"]) {
      const topics = { exchange, write: "^$", read: `^${user}\\.` };
      await management.call("PUT", `/topic-permissions/{vhost}/${user}`, topics);
    }
    return requesterUrl.replace("unacked-requester", user);
  }

  /** Of a task of the type `work`. */
  work(params: object = {}, more: object = {}): object {
    return { type: "work", params: { dir: this.tasks.dir, ...params }, ...more };
  }

  async errors(): Promise<ErrorEntry[]> {
    return (await this.system.call<{ items: ErrorEntry[] }>("GET", "/api/v1/errors?limit=200")).body.items;
  }

  async close(): Promise<void> {
    await Promise.all(this.#requesters.map((each) => each.close().catch(() => undefined)));
    await this.system.close();
  }
}
