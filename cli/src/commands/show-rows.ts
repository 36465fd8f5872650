import { asRefusal, CliFailure } from "../failure.ts";
import { ListPrinter, printOne } from "../output/list-printer.ts";
import type { Listing } from "../output/listing.ts";
import { failureText } from "../report.ts";
import type { Session } from "../session.ts";
import type { OutputOptions } from "./option-sets.ts";

/** How things of a kind are read: one by name, or all. */
export interface Ways<Row> {
  one(name: string): Promise<Row>;
  all(): AsyncIterable<Row[]>;
}

interface Asked<Row> extends Ways<Row> {
  names: string[];
  options: OutputOptions;
}

export function showOrList<Row>(
  session: Session,
  listing: Listing<Row>,
  { names, options, one, all }: Asked<Row>,
): Promise<void> {
  if (names.length > 0) return showNamed(session, listing, names, options, one);
  return printPages(session, listing, options, all());
}

/** Shows each name in order. A name that is not found does not hide the others, and fails the command. */
async function showNamed<Row>(
  session: Session,
  listing: Listing<Row>,
  names: string[],
  options: OutputOptions,
  find: (name: string) => Promise<Row>,
): Promise<void> {
  const { io, print } = session;
  const format = print(options.output);
  if (names.length === 1) return io.out(printOne(listing, await find(names[0] as string), format));
  const printer = new ListPrinter(listing, format);
  const { found, missing } = await eachFound(session, names, find);
  io.out(printer.rows(found) + printer.end());
  failForMissing(missing, names);
}

/** Reports each name that cannot be found, and goes on. */
export async function eachFound<Row>({ io }: Session, names: string[], find: (name: string) => Promise<Row>) {
  const found: Row[] = [];
  let missing = 0;
  for (const name of names) {
    try {
      found.push(await find(name));
    } catch (error) {
      io.err(failureText(asRefusal(error)));
      missing += 1;
    }
  }
  return { found, missing };
}

export function failForMissing(missing: number, names: string[]): void {
  if (missing > 0) throw new CliFailure("failed", `${missing} of ${names.length} were not found`);
}

export async function printPages<Row>(
  { io, print }: Session,
  listing: Listing<Row>,
  { output }: OutputOptions,
  pages: AsyncIterable<Row[]>,
): Promise<void> {
  const printer = new ListPrinter(listing, print(output));
  for await (const page of pages) {
    io.out(printer.rows(page));
    if (io.outIsClosed()) return;
  }
  io.out(printer.end());
  if (printer.count === 0 && (output === "table" || output === "wide")) io.err("Nothing found.\n");
}

export async function* once<Row>(rows: Row[]): AsyncGenerator<Row[]> {
  yield rows;
}
