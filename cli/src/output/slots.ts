import {
  type BrokenFile,
  placeText,
  readableBytes,
  type ServiceView,
  type SlotDeathView,
  type SlotView,
} from "@unacked/contracts";
import type { Paint } from "./colours.ts";
import { ageOf } from "./durations.ts";
import { plainText } from "./plain-text.ts";
import { type Column, Table } from "./table.ts";

/** From this lag on, observers of a slot run late. */
const SLOW_MS = 200;

const SLOT_COLUMNS: Column<SlotView>[] = [
  { heading: "PID", cell: ({ pid }) => String(pid), alignsRight: true },
  { heading: "FOR", cell: ({ purpose }) => purpose },
  { heading: "RUNS", cell: ({ runs }) => String(runs), alignsRight: true },
  { heading: "MEMORY", cell: ({ memoryBytes }) => readableBytes(memoryBytes), alignsRight: true },
  {
    heading: "LAG",
    cell: ({ lagMs }) => ({ text: `${Math.round(lagMs)}ms`, colour: lagMs >= SLOW_MS ? "yellow" : undefined }),
    alignsRight: true,
  },
  { heading: "AGE", cell: ({ startedAt }, nowMs) => ageOf(startedAt, nowMs) },
];

const DEATH_COLUMNS: Column<SlotDeathView>[] = [
  { heading: "AGO", cell: ({ at }, nowMs) => ageOf(at, nowMs) },
  { heading: "PID", cell: ({ pid }) => String(pid), alignsRight: true },
  { heading: "END", cell: ({ end }) => end },
  { heading: "RUNS", cell: ({ runs }) => String(runs), alignsRight: true },
  { heading: "WHY", cell: ({ why, reason }) => ({ text: why, colour: reason === "stop" ? undefined : "red" }) },
];

/** The processes in which a service runs observers, and those that ended. Empty if there are none. */
export function slotText(service: ServiceView, { paint, nowMs }: { paint: Paint; nowMs: number }): string {
  const { slots, slotDeaths, slotDeathsLately } = service;
  const part = (title: string, lines: string[]): string => `${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
  const lately = slotDeathsLately === 0 ? "" : ` (${slotDeathsLately} unwanted in 10m)`;
  return [
    slots.length === 0 ? "" : part("Slots", new Table(SLOT_COLUMNS, { paint }).lines(slots, nowMs)),
    slotDeaths.length === 0
      ? ""
      : part(`Slots that ended${lately}`, new Table(DEATH_COLUMNS, { paint }).lines(slotDeaths, nowMs)),
  ].join("");
}

/** The files that did not load, with the lines around each mistake if the caller may see them. */
export function brokenFileText({ brokenFiles }: ServiceView): string {
  if (brokenFiles.length === 0) return "";
  return `Broken files:\n${brokenFiles
    .flatMap(brokenFileLines)
    .map((line) => `  ${plainText(line)}\n`)
    .join("")}`;
}

/** The problem with its place, and below it the lines of the file. */
export function brokenFileLines(broken: BrokenFile): string[] {
  const { problem, excerpt = "" } = broken;
  const lines = excerpt.split("\n").filter((line) => line !== "");
  return [`${placeText(broken)}: ${problem}`, ...lines.map((line) => `  ${line}`)];
}
