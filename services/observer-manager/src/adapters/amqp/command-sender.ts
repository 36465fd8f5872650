import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { type ControlMessage, EXCHANGES, generationKey, newMessageId, type ServiceId, STATE_KEY } from "@unacked/contracts";
import type { CommandSender, DueCommand, SendOutcome } from "../../flows/dispatcher.ts";
import type { Log } from "../../flows/log.ts";
import { type CommandGroup, groupCommands } from "./command-groups.ts";
import type { WorkQueues } from "./work-queues.ts";

export interface CommandSenderParts {
  publisher: Publisher;
  workQueues: WorkQueues;
  managerId: string;
  log: Log;
}

/** Publishes commands: starts one by one, controls by the thousand in one message. */
export class AmqpCommandSender implements CommandSender {
  readonly #parts: CommandSenderParts;

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
    try {
      await this.#publish(EXCHANGES.events.name, STATE_KEY, body, newMessageId());
    } catch (error) {
      // Somebody unbound or deleted the state queue; perhaps no service is left whose next event would notice.
      if (isReturned(error)) await this.#parts.publisher.declareAgain();
      throw error;
    }
  }

  async #sendGroup(group: CommandGroup): Promise<SendOutcome> {
    try {
      switch (group.kind) {
        case "start": {
          const { start } = group;
          await this.#parts.workQueues.ensure(start.pool);
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

  #outcomeOf(group: CommandGroup, error: unknown): SendOutcome {
    const cameBack = isReturned(error);
    if (cameBack && group.kind === "to-one") return "gone";
    if (cameBack && group.kind === "start") this.#parts.workQueues.forget(group.start.pool);
    this.#parts.log.warn({ kind: group.kind, count: group.ids.length, err: error }, "a command could not be sent yet");
    return "failed";
  }
}

const isReturned = (error: unknown): boolean => error instanceof PublishError && error.code === "returned";
