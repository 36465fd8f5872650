export { type ExchangeOptions, type RunningExchange, startExchange } from "./exchange-server.ts";
export { createRandomWalk, type RandomWalk, type WalkStep, walkProducts } from "./random-walk.ts";
export { parseRecording, type RecordedTicker } from "./recording.ts";
export { readRecording } from "./recording-file.ts";
export type { ReplayState } from "./replay.ts";
export type { ConnectionState, ExchangeState, ProductState } from "./subscriptions.ts";
