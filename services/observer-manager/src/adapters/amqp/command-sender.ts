import { type Outgoing, PublishError, type Publisher, type Session } from "@unacked/broker";
import {
  type ControlMessage,
  EXCHANGES,
  generationKey,
  newMessageId,
  type ServiceId,
  STATE_KEY,
  type WorkQueueType,
  workQueue,
} from "@unacked/contracts";
import type { CommandSender, DueCommand, SendOutcome } from "../../flows/dispatcher.ts";
import type { Log } from "../../flows/log.ts";
import { type CommandGroup, groupCommands } from "./command-groups.ts";

export interface CommandSenderParts {
  publisher: Publisher;
  /** The session that declares work queues; undefined while the broker is away. */
  session(): Session | undefined;
  workQueueType: WorkQueueType;
  managerId: string;
  log: Log;
}

/** Publishes commands: starts one by one, controls by the thousand in one message. */
export class AmqpCommandSender implements CommandSender {
  readonly #parts: CommandSenderParts;
  /** Pools whose work queue was declared, for the generation it was declared in. */
  #declared = { generation: 0, pools: new Set<string>() };

  constructor(parts: CommandSenderParts) {
    this.#parts = parts;
  }

  ready(signal: AbortSignal): Promise<void> {
    return this.#parts.publisher.writable(signal);
  }

  async send(due: DueCommand[]): Promise<SendOutcome[]> {
    const outcomes = new Map<string, SendOutcome>();
    const sending = groupCommands(due).map(async (group) => {
      const outcome = await this.#sendGroup(group);
      for (const id of group.ids) outcomes.set(id, outcome);
    });
    await Promise.all(sending);
    return due.map((command) => outcomes.get(command.id) ?? "failed");
  }

  async certifyDeath(serviceId: ServiceId, generation: number): Promise<void> {
    const body = { kind: "DeathCertificate", serviceId, generation };
    await this.#publish(EXCHANGES.events.name, STATE_KEY, body, newMessageId());
  }

  async #sendGroup(group: CommandGroup): Promise<SendOutcome> {
    try {
      switch (group.kind) {
        case "start": {
          const { start } = group;
          await this.#ensureWorkQueue(start.pool);
          const messageId = newMessageId();
          await this.#publish(EXCHANGES.start.name, start.pool, { ...start, messageId }, messageId, "StartObserver");
          return "sent";
        }
        case "to-all":
          await this.#publish(EXCHANGES.control.name, "", group.message, newMessageId(), group.message.kind, false);
          return "sent";
        case "to-one":
          await this.#sendToOne(group.serviceId, group.generation, group.message);
          return "sent";
        default:
          return group satisfies never;
      }
    } catch (error) {
      return this.#outcomeOf(group, error);
    }
  }

  #sendToOne(serviceId: ServiceId, generation: number, message: ControlMessage): Promise<void> {
    const key = generationKey(serviceId, generation);
    return this.#publish(EXCHANGES.service.name, key, message, newMessageId(), message.kind);
  }

  #publish(
    exchange: string,
    routingKey: string,
    body: { kind: string } | object,
    messageId: string,
    type = (body as { kind: string }).kind,
    mandatory = true,
  ): Promise<void> {
    const message: Outgoing = { exchange, routingKey, body, type, messageId, appId: this.#parts.managerId, mandatory };
    return this.#parts.publisher.publish(message);
  }

  /** The first start of a pool makes its queue, so that an observer can wait for the first service. */
  async #ensureWorkQueue(pool: string): Promise<void> {
    const session = this.#parts.session();
    if (!session) throw new Error("the broker session that declares work queues is down");
    if (session.generation !== this.#declared.generation)
      this.#declared = { generation: session.generation, pools: new Set() };
    if (this.#declared.pools.has(pool)) return;
    await session.declare(workQueue(pool, this.#parts.workQueueType));
    this.#declared.pools.add(pool);
  }

  #outcomeOf(group: CommandGroup, error: unknown): SendOutcome {
    const isReturned = error instanceof PublishError && error.code === "returned";
    if (isReturned && group.kind === "to-one") return "gone";
    // A queue that was deleted under us is declared anew with the next try.
    if (isReturned && group.kind === "start") this.#declared.pools.delete(group.start.pool);
    this.#parts.log.warn({ kind: group.kind, count: group.ids.length, err: error }, "a command could not be sent yet");
    return "failed";
  }
}
