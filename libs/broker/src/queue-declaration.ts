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

/** As it may be there already; itself where there is but one way. */
export const asOtherwise = <Q extends QueueDeclaration>(queue: Q): Q => ({
  ...queue,
  arguments: queue.otherwise ?? queue.arguments,
});
