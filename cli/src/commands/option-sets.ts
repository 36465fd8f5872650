import { type Command, Option } from "commander";
import { FILTER_KEYS } from "../input/filters.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "../output/list-printer.ts";

/** The parser of options that may be repeated. */
const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

export const repeatable = (flags: string, description: string): Option => new Option(flags, description).argParser(collect);

export interface OutputOptions {
  output: OutputFormat;
}

export const outputOption = (): Option =>
  new Option("-o, --output <format>", "how to print").choices([...OUTPUT_FORMATS]).default("table");

/** The formats of commands that change something: one line each, unless the observers themselves are asked for. */
export const RESULT_FORMATS = ["lines", "name", "json", "yaml"] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

export const resultOption = (): Option =>
  new Option("-o, --output <format>", "how to print what was done").choices([...RESULT_FORMATS]).default("lines");

export interface SelectionOptions {
  filter?: string[];
  selector?: string[];
}

export const addSelectionOptions = (command: Command): Command =>
  command
    .addOption(repeatable("--filter <key=value>", `which observers, by ${FILTER_KEYS.join(", ")}; may be repeated`))
    .addOption(
      repeatable("-l, --selector <key=value>", "which observers, by label; may be repeated, or separated by commas"),
    );

export interface FileOptions {
  filename?: string[];
  set?: string[];
}

export const addFileOptions = (command: Command): Command =>
  command
    .addOption(
      repeatable("-f, --filename <file>", "YAML or JSON with any number of documents, a folder, or - for standard input"),
    )
    .addOption(repeatable("--set <path=value>", "set this in every document, such as params.everyMs=500; may be repeated"));
