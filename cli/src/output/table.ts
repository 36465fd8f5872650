import { type Colour, type Paint, unpainted } from "./colours.ts";
import { plainText } from "./plain-text.ts";
import { cutToWidth, textWidth } from "./text-width.ts";

export interface Cell {
  text: string;
  colour?: Colour | undefined;
}

export interface Column<Row> {
  heading: string;
  cell(row: Row, nowMs: number): string | Cell;
  /** Shown only with `-o wide`. */
  isWide?: boolean;
  alignsRight?: boolean;
}

const GAP = "   ";
/** Stands for a missing value. With an empty cell one would have to guess its column. */
const NOTHING = "-";

/**
 * Turns rows into lines of a table, batch by batch. The first batch decides the columns' widths, so that lists of any length
 * are shown as they come. Wider cells later stick out; cells are only cut at `maxWidth`, if there is one.
 */
export class Table<Row> {
  readonly #columns: Column<Row>[];
  readonly #paint: Paint;
  readonly #maxWidth: number;
  #widths: number[] | undefined;

  constructor(columns: Column<Row>[], options: { wide?: boolean; paint?: Paint; maxWidth?: number | undefined } = {}) {
    this.#maxWidth = options.maxWidth ?? Number.POSITIVE_INFINITY;
    this.#columns = columns.filter((column) => options.wide === true || column.isWide !== true);
    this.#paint = options.paint ?? unpainted;
  }

  /** The lines of these rows, after the headings if these are the first. */
  lines(rows: Row[], nowMs: number, minWidths: Partial<Record<string, number>> = {}): string[] {
    const cells = rows.map((row) => this.#columns.map((column) => toCell(column.cell(row, nowMs))));
    if (this.#widths !== undefined) return cells.map((row) => this.#line(row));
    const headings = this.#columns.map(({ heading }): Cell => ({ text: heading, colour: "bold" }));
    this.#widths = this.#columns.map(({ heading }, index) =>
      [headings, ...cells].reduce(
        (widest, row) => Math.max(widest, textWidth(row[index]?.text ?? "")),
        minWidths[heading] ?? 0,
      ),
    );
    return [headings, ...cells].map((row) => this.#line(row));
  }

  #line(row: Cell[]): string {
    let line = "";
    let room = this.#maxWidth;
    for (const [index, { text, colour }] of row.entries()) {
      const spaces = " ".repeat(Math.max(0, (this.#widths?.[index] ?? 0) - textWidth(text)));
      const alignsRight = this.#columns[index]?.alignsRight === true;
      const before = (index === 0 ? "" : GAP) + (alignsRight ? spaces : "");
      // The last cell is not padded: lines are copied, and wrap.
      const behind = alignsRight || index === row.length - 1 ? "" : spaces;
      const width = textWidth(before + text + behind);
      if (room === 0) return line;
      if (width > room) return line + this.#paint(colour, cutToWidth(before + text + behind, room));
      line += before + this.#paint(colour, text) + behind;
      room -= width;
    }
    return line;
  }
}

function toCell(given: string | Cell): Cell {
  const { text, colour } = typeof given === "string" ? { text: given, colour: undefined } : given;
  return { text: text === "" ? NOTHING : plainText(text), colour };
}
