export interface ExchangeDeclaration {
  name: string;
  type: string;
}

export interface QueueDeclaration {
  name: string;
  durable: boolean;
  exclusive: boolean;
  arguments: Record<string, unknown>;
  bindings: readonly { exchange: ExchangeDeclaration; routingKey: string }[];
}
