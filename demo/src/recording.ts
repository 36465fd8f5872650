/** A ticker message of a recording. */
export type RecordedTicker = {
  readonly product: string;
  /** When it came, in ms since the recording's first ticker message. */
  readonly atMs: number;
  /** The message exactly as it crossed the wire. */
  readonly json: string;
  /** Its price, a decimal text. */
  readonly price: string;
  readonly sequence: number;
};

/** A line of the server: the time in seconds since 1970, a colon, JSON. Lines of the client hold an arrow instead. */
const serverLine = /^(\d+(?:\.\d+)?): (\{.*)$/;

/**
 * The ticker messages of a recorded WebSocket session, in the order they came. One line a message: `UNIXTIME: JSON` from
 * the server; `URL <- UNIXTIME: JSON` from the client and `URL <-> UNIXTIME` for the connection are passed over, as are
 * messages of other channels. Throws, naming the line, on a server line whose JSON cannot be read.
 */
export function parseRecording(text: string): RecordedTicker[] {
  const tickers: RecordedTicker[] = [];
  let firstSeconds: number | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const match = serverLine.exec(line.trimEnd());
    if (match === null) continue;
    const [, seconds = "", json = ""] = match;
    const message = readMessage(json, index + 1);
    if (message.type !== "ticker") continue;
    const { product_id: product, price, sequence } = message;
    if (typeof product !== "string" || typeof price !== "string" || typeof sequence !== "number") {
      throw new Error(`line ${index + 1} of the recording is a ticker without product_id, price or sequence`);
    }
    firstSeconds ??= Number(seconds);
    tickers.push({ product, price, sequence, json, atMs: Math.max(0, (Number(seconds) - firstSeconds) * 1_000) });
  }
  return tickers;
}

function readMessage(json: string, lineNumber: number): Record<string, unknown> {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(`line ${lineNumber} of the recording is not JSON`, { cause });
  }
}
