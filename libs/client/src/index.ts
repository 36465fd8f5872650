export { type AnyProblem, CallError, type CallErrorKind } from "./call-error.ts";
export { Client, type ClientParts } from "./client.ts";
export { contractDecoder } from "./contract-decoder.ts";
export { type Decoder, trustingDecoder } from "./decoder.ts";
export { type EventBlock, EventBlocks } from "./event-blocks.ts";
export { type Lost, openStream } from "./event-stream.ts";
export { type RawAnswer, Wire, type WireOptions } from "./wire.ts";
