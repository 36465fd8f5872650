import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../processes/processes.ts";

/** Real traffic that lies beside some checkouts and is not part of the project: a test that needs it skips without. */
export const RECORDING_FILE = resolve(ROOT, "../shared/data/coinbase-2021-04-17.ws.gz");
export const hasRecording = existsSync(RECORDING_FILE);
if (!hasRecording) console.warn("skipped: the recording ../shared/data/coinbase-2021-04-17.ws.gz is not there");

/** Ticker messages per product, as the recording's README counts them. */
export const RECORDED_COUNTS: Readonly<Record<string, number>> = {
  "DASH-BTC": 16,
  "SKL-USD": 53,
  "BAND-BTC": 9,
  "NMR-EUR": 9,
  "SKL-BTC": 9,
  "BAND-GBP": 5,
  "NU-GBP": 2,
  "SKL-GBP": 2,
  "CRV-EUR": 1,
  "YFI-BTC": 1,
};

export interface RecordedTick {
  product: string;
  price: string;
  sequence: number;
}

/** The file's ticker messages, read line by line and with nothing of the project's own code. */
export function readRecordedTicks(): RecordedTick[] {
  return gunzipSync(readFileSync(RECORDING_FILE))
    .toString("utf8")
    .split("\n")
    .filter((line) => /^\d[\d.]*: \{"type":"ticker"/.test(line))
    .map((line) => JSON.parse(line.slice(line.indexOf("{"))) as { product_id: string; price: string; sequence: number })
    .map(({ product_id: product, price, sequence }) => ({ product, price, sequence }));
}

export interface RecordedMove {
  reference: string;
  price: string;
  sequence: number;
}

/** Moves by `permille` ‰ or more from the last move's price (at first the first tick's), in whole units of 1e-8. */
export function movesOf(ticks: readonly RecordedTick[], permille: number): RecordedMove[] {
  const units = (price: string) => BigInt(Math.round(Number(price) * 1e8));
  const moves: RecordedMove[] = [];
  let reference = ticks[0]?.price ?? "";
  for (const { price, sequence } of ticks) {
    const change = units(price) - units(reference);
    if ((change < 0n ? -change : change) * 1_000n < BigInt(permille) * units(reference)) continue;
    moves.push({ reference, price, sequence });
    reference = price;
  }
  return moves;
}
