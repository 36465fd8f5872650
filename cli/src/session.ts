import type { Command } from "commander";
import { UnackedApi } from "./client/api.ts";
import type { TlsFiles } from "./client/tls-fetch.ts";
import { contextFilePath, isReadableByOthers, readContextFile } from "./config/context-file.ts";
import { type ChosenAddress, chooseAddress, tlsFilesOf } from "./config/contexts.ts";
import { usageFailure } from "./failure.ts";
import { parseTimeout } from "./input/duration.ts";
import type { Io } from "./io.ts";
import { choosePaint, type Paint } from "./output/colours.ts";
import type { OutputFormat, PrintOptions } from "./output/list-printer.ts";
import { plainLine } from "./output/plain-text.ts";

/** The options that every command takes. */
export interface GlobalOptions extends TlsFiles {
  url?: string;
  token?: string;
  context?: string;
  requestTimeout: string;
  color: boolean;
}

/** What a command works with. */
export interface Session {
  io: Io;
  api: UnackedApi;
  paint: Paint;
  /** The options for a list that is printed now. */
  print(format: OutputFormat): PrintOptions;
}

export function openSession(io: Io, command: Command): Session {
  const options = command.optsWithGlobals<GlobalOptions>();
  if (options.token?.trim() === "")
    throw usageFailure("--token is empty", "Is a variable of the shell not set? Nothing was sent.");
  const { url, token, tls } = addressOf(io, options);
  const paint = paintOf(io, options);
  return {
    io,
    api: new UnackedApi({ url, token, tls }, { timeoutMs: parseTimeout(options.requestTimeout) }),
    paint,
    print: (format) => ({ format, paint, nowMs: io.nowMs(), columns: io.outColumns() }),
  };
}

export const paintOf = (io: Io, { color }: GlobalOptions): Paint =>
  choosePaint({ isTerminal: io.outIsTerminal, noColorOption: !color, env: io.env });

export function addressOf(io: Io, options: GlobalOptions): ChosenAddress {
  const path = contextFilePath(io.env);
  const file = readContextFile(path);
  const hasToken = Object.values(file.contexts).some((each) => each.token !== undefined);
  if (hasToken && isReadableByOthers(path))
    io.err(plainLine(`warning: others can read the tokens in ${path}. Run: chmod 600 ${path}`));
  const { url, token, context } = options;
  return chooseAddress(file, { url, token, context, tls: tlsFilesOf(options), env: io.env });
}
