import { resolve } from "node:path";
import type { Command } from "commander";
import { refuseNoToken } from "../client/token-flaw.ts";
import { contextFilePath, readContextFile, writeContextFile } from "../config/context-file.ts";
import { type ContextFile, contextOf, tlsFilesOf, toBaseUrl, withContext, withoutContext } from "../config/contexts.ts";
import { usageFailure } from "../failure.ts";
import type { Io } from "../io.ts";
import { yamlText } from "../output/document-text.ts";
import { plainLine, plainLines } from "../output/plain-text.ts";
import { type Column, Table } from "../output/table.ts";
import { addressOf, type GlobalOptions, paintOf } from "../session.ts";

export function addConfig(program: Command, io: Io): void {
  const config = program
    .command("config")
    .summary("contexts: the managers that you use, and their tokens")
    .description(
      "Contexts: the addresses of managers, with their tokens. UNACKED_URL and UNACKED_TOKEN take precedence over them.",
    );
  const change = (edit: (file: ContextFile) => ContextFile): void => {
    const path = contextFilePath(io.env);
    writeContextFile(path, edit(readContextFile(path)));
  };
  config
    .command("view")
    .description("show the file, and which address is used")
    .option("--raw", "show the tokens, too")
    .action((options: { raw?: boolean }, self: Command) => view(io, options, self.optsWithGlobals<GlobalOptions>()));
  config
    .command("get-contexts")
    .description("list the contexts")
    .action((_options: object, self: Command) => getContexts(io, self.optsWithGlobals<GlobalOptions>()));
  config
    .command("current-context")
    .description("print the name of the current context")
    .action(() => io.out(plainLine(currentOf(readContextFile(contextFilePath(io.env))))));
  config
    .command("use-context")
    .description("make a context the current one")
    .argument("<name>")
    .action((name: string) => {
      change((file) => ({ ...file, current: (contextOf(file, name), name) }));
      io.out(plainLine(`The context is ${name}.`));
    });
  config
    .command("set-context")
    .description(
      "make or change a context: its address by --url, its token by --token (- reads it from standard input), its files by --certificate-authority, --client-certificate and --client-key",
    )
    .argument("<name>")
    .action((name: string, _options: object, self: Command) => {
      const { url, token, ...globals } = self.optsWithGlobals<GlobalOptions>();
      const files = Object.entries(tlsFilesOf(globals)).map(([option, file]) => [option, resolve(file as string)]);
      const read = token === "-" ? io.readInput().trim() : token;
      refuseNoToken(read);
      change((file) =>
        withContext(file, name, {
          ...(url !== undefined && { url: toBaseUrl(url) }),
          ...(read !== undefined && { token: read }),
          ...Object.fromEntries(files),
        }),
      );
      io.out(plainLine(`The context ${name} is set.`));
    });
  config
    .command("delete-context")
    .description("remove a context")
    .argument("<name>")
    .action((name: string) => {
      change((file) => withoutContext(file, name));
      io.out(plainLine(`The context ${name} is deleted.`));
    });
}

function view(io: Io, { raw }: { raw?: boolean }, globals: GlobalOptions): void {
  const path = contextFilePath(io.env);
  const file = readContextFile(path);
  const shown = Object.entries(file.contexts).map(([name, { url, token, ...files }]) => [
    name,
    { url, ...files, ...(token !== undefined && { token: raw === true ? token : "(hidden: --raw shows it)" }) },
  ]);
  const { url, from } = addressOf(io, globals);
  const head = plainLines([`# ${path}`, `# spoken to is ${url}, by ${from}`]);
  io.out(head + yamlText({ ...file, contexts: Object.fromEntries(shown) }));
}

interface ListedContext {
  name: string;
  url: string;
  isCurrent: boolean;
  hasToken: boolean;
}

const COLUMNS: Column<ListedContext>[] = [
  { heading: "CURRENT", cell: ({ isCurrent }) => (isCurrent ? "*" : " ") },
  { heading: "NAME", cell: ({ name }) => name },
  { heading: "URL", cell: ({ url }) => url },
  { heading: "TOKEN", cell: ({ hasToken }) => (hasToken ? "yes" : "no") },
];

function getContexts(io: Io, globals: GlobalOptions): void {
  const { current, contexts } = readContextFile(contextFilePath(io.env));
  const rows = Object.entries(contexts).map(([name, { url, token }]) => ({
    name,
    url,
    isCurrent: name === current,
    hasToken: token !== undefined,
  }));
  if (rows.length === 0)
    return io.err("There is no context yet. Make one: unacked config set-context NAME --url http://…\n");
  for (const line of new Table(COLUMNS, { paint: paintOf(io, globals) }).lines(rows, io.nowMs())) io.out(`${line}\n`);
}

function currentOf({ current }: ContextFile): string {
  if (current !== undefined) return current;
  throw usageFailure("No context is current", "Choose one: unacked config use-context NAME");
}
