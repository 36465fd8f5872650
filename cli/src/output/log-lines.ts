import type { LogEntry, LogRun } from "@unacked/contracts";
import type { Colour, Paint } from "./colours.ts";
import { jsonText } from "./document-text.ts";
import { stackLines } from "./errors.ts";
import { plainText } from "./plain-text.ts";

export type LogFormat = "table" | "json";

const LEVEL_COLOURS: Readonly<Record<string, Colour>> = { error: "red", warn: "yellow", debug: "dim", emit: "cyan" };
const LEVEL_WIDTH = 5;

/**
 * One entry of an observer's log: its time, its level (or `emit`) and its message, with its fields as JSON, and below it the
 * stack of an error.
 */
export function logLine(said: { entry: LogEntry; run: LogRun | null }, format: LogFormat, paint: Paint): string {
  const { entry, run } = said;
  if (format === "json") return `${jsonText({ ...entry, runId: run?.id, service: run?.service.name })}\n`;
  const level = entry.kind === "emit" ? "emit" : entry.level;
  const what = entry.kind === "emit" ? valueText(entry.value, entry.cut) : entry.message;
  const fields = entry.kind === "log" && entry.fields !== undefined ? ` ${valueText(entry.fields, entry.cut)}` : "";
  const line = `${entry.at} ${paint(LEVEL_COLOURS[level], level.padEnd(LEVEL_WIDTH))} ${plainText(what + fields)}`;
  const stack = entry.kind === "log" ? stackLines(entry.stack) : [];
  return [line, ...stack].map((each) => `${each}\n`).join("");
}

/** A value that was cut comes as text already. */
const valueText = (value: unknown, cut: boolean): string => (cut && typeof value === "string" ? value : jsonText(value));
