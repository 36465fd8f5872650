import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { EXCHANGES, generationKey, newMessageId, type ServiceId, STATE_KEY } from "@unacked/contracts";
import type { CommandSender, DueCommand, SendOutcome } from "../../../operations/commands/command-store.ts";
import type { Log } from "../../../operations/log.ts";
import type { MessageTracing, TracedPublish } from "../deliveries/message-tracing.ts";
import { QueueRefused } from "../pools/pool-trouble.ts";
import { NotTried, PoolWindows } from "../pools/pool-window.ts";
import type { WorkQueues } from "../pools/work-queues.ts";
import { type CommandGroup, groupCommands } from "./command-groups.ts";

export interface CommandSenderParts {
  publisher: Publisher;
  workQueues: WorkQueues;
  managerId: string;
  log: Log;
  /** Undefined means that nothing is traced. */
  tracing: MessageTracing | undefined;
}

/** Publishes commands: starts one by one, controls by the thousand in one message. */
export class AmqpCommandSender implements CommandSender {
  readonly #parts: CommandSenderParts;
  readonly #windows = new PoolWindows();

  constructor(parts: CommandSenderParts) {
    this.#parts = parts;
  }

  get isReady(): boolean {
    return this.#parts.publisher.isWritable;
  }

  ready(signal: AbortSignal): Promise<void> {
    return this.#parts.publisher.writable(signal);
  }

  async send(due: DueCommand[]): Promise<SendOutcome[]> {
    const outcomes = new Map<string, SendOutcome>();
    const gone = new Map<string, Promise<boolean>>();
    const sending = groupCommands(due).map(async (group) => {
      const outcome = await this.#sendGroup(group);
      const isUncertified = outcome === "gone" && group.kind === "to-one" && !(await this.#certified(group, gone));
      for (const id of group.ids) outcomes.set(id, isUncertified ? "failed" : outcome);
    });
    await Promise.all(sending);
    return due.map((command) => outcomes.get(command.id) ?? "failed");
  }

  /** Certifies a death once for each generation, however many commands came back from it. */
  #certified(
    { serviceId, generation }: { serviceId: ServiceId; generation: number },
    known: Map<string, Promise<boolean>>,
  ): Promise<boolean> {
    const key = generationKey(serviceId, generation);
    const certified = known.get(key) ?? this.#certifyDeath(serviceId, generation);
    known.set(key, certified);
    return certified;
  }

  /**
   * Puts a death certificate into the state queue, behind everything the service said before. @returns false if it may not be put there
   */
  async #certifyDeath(serviceId: ServiceId, generation: number): Promise<boolean> {
    const body = { kind: "DeathCertificate", serviceId, generation };
    const { publisher, log } = this.#parts;
    try {
      await publisher.publish(this.#message(EXCHANGES.events.name, STATE_KEY, body, newMessageId()));
      return true;
    } catch (error) {
      log.warn({ serviceId, generation, err: error }, "a death could not be certified yet");
      // Somebody unbound or deleted the state queue. Perhaps no service is left whose next event would reveal it.
      if (isReturned(error)) await publisher.declareAgain();
      return false;
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
          const message = this.#message(EXCHANGES.start.name, start.pool, body, messageId, "StartObserver");
          await this.#inWindow(start.pool, () => this.#publish(group, message));
          this.#parts.workQueues.told(start.pool, "taken");
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

  /** Uses a window only for quorum queues: a classic queue confirms or refuses, so RabbitMQ holds up nobody for it. */
  #inWindow(pool: string, send: () => Promise<void>): Promise<void> {
    return this.#parts.workQueues.typeOf(pool) === "classic" ? send() : this.#windows.through(pool, send);
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
    // The queue's own log and the warnings report this once, rather than each of its starts.
    if (error instanceof QueueRefused) return "held-up";
    if (error instanceof NotTried) return "failed"; // logged for the one before it
    const cameBack = isReturned(error);
    if (cameBack && group.kind === "to-one") return "gone";
    if (cameBack && group.kind === "start") this.#parts.workQueues.forget(group.start.pool);
    if (group.kind === "start" && isNacked(error)) this.#parts.workQueues.told(group.start.pool, "nacked");
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
const isNacked = (error: unknown): boolean => error instanceof PublishError && error.code === "nacked";
