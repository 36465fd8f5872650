import type { Session, SideChannel } from "@unacked/broker";

/** The channel on which one queue is spoken of. It is opened when it is first used in a session, and dropped after a failure. */
export class PoolChannel {
  readonly #keeps: () => boolean;
  #kept: { generation: number; channel: Promise<SideChannel> } | undefined;

  /** @param keeps false: it is closed after each use, too */
  constructor(keeps: () => boolean) {
    this.#keeps = keeps;
  }

  async use<T>(session: Session, act: (channel: SideChannel) => Promise<T>): Promise<T> {
    if (this.#kept?.generation !== session.generation)
      this.#kept = { generation: session.generation, channel: session.openSideChannel() };
    const kept = this.#kept;
    let isGood = false;
    try {
      const answer = await act(await kept.channel);
      isGood = this.#keeps();
      return answer;
    } finally {
      if (!isGood && this.#kept === kept) void this.close();
    }
  }

  async close(): Promise<void> {
    const kept = this.#kept;
    this.#kept = undefined;
    const channel = await kept?.channel.catch(() => undefined); // without a session there is no channel to close
    await channel?.close();
  }
}
