import { type Colour, type Paint, unpainted } from "./colours.ts";
import { plainText } from "./plain-text.ts";

export interface Cell {
  text: string;
  colour?: Colour | undefined;
}

export interface Column<Row> {
  heading: string;
  cell(row: Row, nowMs: number): string | Cell;
  /** Only with `-o wide`. */
  isWide?: boolean;
  alignsRight?: boolean;
}

const GAP = "   ";
/** What has no value. An empty cell would leave its column guessed. */
const NOTHING = "-";

/**
 * Turns rows into lines of a table, batch by batch: the first batch decides how wide the columns are, so that lists of any
 * length are shown as they come. What is wider later sticks out, and nothing is cut.
 */
export class Table<Row> {
  readonly #columns: Column<Row>[];
  readonly #paint: Paint;
  #widths: number[] | undefined;

  constructor(columns: Column<Row>[], options: { wide?: boolean; paint?: Paint } = {}) {
    this.#columns = columns.filter((column) => options.wide === true || column.isWide !== true);
    this.#paint = options.paint ?? unpainted;
  }

  /** The lines of these rows, after the headings if they are the first. */
  lines(rows: Row[], nowMs: number, minWidths: Partial<Record<string, number>> = {}): string[] {
    const cells = rows.map((row) => this.#columns.map((column) => toCell(column.cell(row, nowMs))));
    if (this.#widths !== undefined) return cells.map((row) => this.#line(row));
    const headings = this.#columns.map(({ heading }): Cell => ({ text: heading, colour: "bold" }));
    this.#widths = this.#columns.map(({ heading }, index) =>
      Math.max(minWidths[heading] ?? 0, ...[headings, ...cells].map((row) => widthOf(row[index]?.text ?? ""))),
    );
    return [headings, ...cells].map((row) => this.#line(row));
  }

  #line(row: Cell[]): string {
    const padded = row.map((cell, index) => {
      const missing = Math.max(0, (this.#widths?.[index] ?? 0) - widthOf(cell.text));
      const text = this.#paint(cell.colour, cell.text);
      if (this.#columns[index]?.alignsRight === true) return " ".repeat(missing) + text;
      // Nothing is put behind the last one: lines are copied, and wrap.
      return index === row.length - 1 ? text : text + " ".repeat(missing);
    });
    return padded.join(GAP);
  }
}

function toCell(given: string | Cell): Cell {
  const { text, colour } = typeof given === "string" ? { text: given, colour: undefined } : given;
  return { text: text === "" ? NOTHING : plainText(text), colour };
}

/** Characters, not UTF-16 units. */
const widthOf = (text: string): number => Array.from(text).length;
