import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { parseRecording, type RecordedTicker } from "./recording.ts";

/** Reads a recording, gzipped or plain (told by its first bytes). Throws naming the file when it holds no ticker messages. */
export async function readRecording(file: string): Promise<RecordedTicker[]> {
  const bytes = await readFile(file);
  const gzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const tickers = parseRecording((gzipped ? gunzipSync(bytes) : bytes).toString("utf8"));
  if (tickers.length === 0) throw new Error(`${file} holds no ticker messages`);
  return tickers;
}
