import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { EXCHANGES, generationKey, newMessageId, type ServiceId, STATE_KEY } from "@unacked/contracts";
import type { CommandSender, DueCommand, SendOutcome } from "../../flows/dispatcher.ts";
import type { Log } from "../../flows/log.ts";
import { type CommandGroup, groupCommands } from "./command-groups.ts";
import type { MessageTracing, TracedPublish } from "./message-tracing.ts";
import type { WorkQueues } from "./work-queues.ts";

export interface CommandSenderParts {
  publisher: Publisher;
  workQueues: WorkQueues;
  managerId: string;
  log: Log;
  /** Undefined: nothing is traced. */
  tracing: MessageTracing | undefined;
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
      await this.#parts.publisher.publish(this.#message(EXCHANGES.events.name, STATE_KEY, body, newMessageId()));
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
          const body = { messageId, ...start };
          await this.#publish(group, this.#message(EXCHANGES.start.name, start.pool, body, messageId, "StartObserver"));
          return "sent";
        }
        case "to-all": {
          const { message } = group;
          await this.#publish(
            group,
            this.#message(EXCHANGES.control.name, "", message, newMessageId(), message.kind, false),
          );
          return "sent";
        }
        case "to-one": {
          const { serviceId, generation, message } = group;
          const key = generationKey(serviceId, generation);
          await this.#publish(group, this.#message(EXCHANGES.service.name, key, message, newMessageId()));
          return "sent";
        }
        default:
          return group satisfies never;
      }
    } catch (error) {
      return this.#outcomeOf(group, error);
    }
  }

  #publish(group: CommandGroup, message: Outgoing): Promise<void> {
    const { publisher, tracing } = this.#parts;
    const traced = tracing?.publish(group, message);
    return traced === undefined ? publisher.publish(message) : publishTraced(publisher, traced);
  }

  #message(
    exchange: string,
    routingKey: string,
    body: { kind: string } | object,
    messageId: string,
    type = (body as { kind: string }).kind,
    mandatory = true,
  ): Outgoing {
    return { exchange, routingKey, body, type, messageId, appId: this.#parts.managerId, mandatory };
  }

  #outcomeOf(group: CommandGroup, error: unknown): SendOutcome {
    const cameBack = isReturned(error);
    if (cameBack && group.kind === "to-one") return "gone";
    if (cameBack && group.kind === "start") this.#parts.workQueues.forget(group.start.pool);
    this.#parts.log.warn({ kind: group.kind, count: group.ids.length, err: error }, "a command could not be sent yet");
    return "failed";
  }
}

async function publishTraced(publisher: Publisher, { message, span }: TracedPublish): Promise<void> {
  try {
    await publisher.publish(message);
    span.end();
  } catch (error) {
    span.end(error instanceof PublishError ? error.code : "unknown");
    throw error;
  }
}

const isReturned = (error: unknown): boolean => error instanceof PublishError && error.code === "returned";
