import type { Paint } from "./colours.ts";
import { jsonText, yamlText } from "./document-text.ts";
import type { Listing } from "./listing.ts";
import { plainLines } from "./plain-text.ts";
import { Table } from "./table.ts";

export const OUTPUT_FORMATS = ["table", "wide", "json", "yaml", "name"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface PrintOptions {
  format: OutputFormat;
  paint: Paint;
  nowMs: number;
  /** The terminal's width: lines of `wide` are cut there. */
  columns?: number | undefined;
}

/** Prints one thing as a document, or else as a list of one. */
export function printOne<Row>(listing: Listing<Row>, row: Row, options: PrintOptions): string {
  if (options.format === "json") return `${jsonText(row, 2)}\n`;
  if (options.format === "yaml") return yamlText(row);
  const printer = new ListPrinter(listing, options);
  return printer.rows([row]) + printer.end();
}

/** Writes a list batch by batch: the texts of all calls together are the whole. */
export class ListPrinter<Row> {
  readonly #listing: Listing<Row>;
  readonly #options: PrintOptions;
  readonly #table: Table<Row>;
  #count = 0;

  constructor(listing: Listing<Row>, options: PrintOptions) {
    this.#listing = listing;
    this.#options = options;
    const wide = options.format === "wide";
    this.#table = new Table(listing.columns, { wide, paint: options.paint, ...(wide && { maxWidth: options.columns }) });
  }

  /** How many rows have been printed. */
  get count(): number {
    return this.#count;
  }

  rows(rows: Row[]): string {
    if (rows.length === 0) return "";
    const isFirst = this.#count === 0;
    this.#count += rows.length;
    const { format, nowMs } = this.#options;
    switch (format) {
      case "table":
      case "wide":
        return toText(this.#table.lines(rows, nowMs));
      case "name":
        return plainLines(rows.map((row) => this.#listing.nameOf(row)));
      case "json":
        return (isFirst ? '{\n  "items": [\n' : ",\n") + rows.map((row) => indented(jsonText(row, 2), 4)).join(",\n");
      case "yaml":
        return (isFirst ? "items:\n" : "") + indented(yamlText(rows), 2);
      default:
        return format satisfies never;
    }
  }

  end(): string {
    if (this.#options.format === "json") return this.#count === 0 ? '{\n  "items": []\n}\n' : "\n  ]\n}\n";
    return this.#options.format === "yaml" && this.#count === 0 ? "items: []\n" : "";
  }
}

const toText = (lines: string[]): string => lines.map((line) => `${line}\n`).join("");

/** Every line of a list moves by the same, so that block texts of YAML keep their meaning. Empty lines stay empty. */
const indented = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, " ".repeat(by));
