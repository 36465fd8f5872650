export interface ExchangeDeclaration {
  name: string;
  type: string;
}

export interface QueueDeclaration {
  name: string;
  durable: boolean;
  exclusive: boolean;
  arguments: Record<string, unknown>;
  /** If the broker has it with these arguments instead, it is left as it is. */
  otherwise?: Record<string, unknown>;
  bindings: readonly { exchange: ExchangeDeclaration; routingKey: string }[];
}

/** The queue with the arguments that it may have already; the queue itself if it has no `otherwise`. */
export const asOtherwise = <Q extends QueueDeclaration>(queue: Q): Q => ({
  ...queue,
  arguments: queue.otherwise ?? queue.arguments,
});
