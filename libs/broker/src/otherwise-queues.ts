import type { LossReason } from "./loss-reason.ts";
import { asOtherwise, type QueueDeclaration } from "./queue-declaration.ts";
import type { SideChannel } from "./side-channel.ts";

/** Acts on a channel of its own. Resolves to why it was refused. Undefined: it was not. */
type Attempt = (what: string, act: (channel: SideChannel) => Promise<unknown>) => Promise<LossReason | undefined>;

/** Queues that exist as their `otherwise`. One session finds them and passes them on to the next. */
export class OtherwiseQueues {
  readonly #known = new Set<string>();

  /**
   * Declares one aside, since a refusal of the control channel costs the session. One that was there otherwise is not asked for in vain each
   * time, which would be an error in the broker's log; nor is it declared so again: one that is deleted just before that would be made anew
   * as nobody wants it.
   * @returns why it is refused as it is wanted, where it is refused otherwise, too
   */
  async declare(queue: QueueDeclaration, attempt: Attempt): Promise<LossReason | undefined> {
    const { name } = queue;
    const declare = (as: QueueDeclaration) => attempt(`declare queue ${name}`, (channel) => channel.declareQueue(as));
    const keep = () => attempt(`keep queue ${name}`, (channel) => channel.keepQueue(queue));
    if (this.#known.has(name) && (await keep()) === undefined) return undefined;
    this.#known.delete(name);
    const refused = await declare(queue);
    if (refused === undefined || (await declare(asOtherwise(queue))) !== undefined) return refused;
    this.#known.add(name);
    return undefined;
  }
}
