import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { ROLES } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { newToken } from "../config/new-token.ts";
import { usageFailure } from "../failure.ts";
import type { Io } from "../io.ts";

export function addToken(program: Command, io: Io): void {
  const token = program.command("token").summary("tokens that a manager accepts").description("Bearer tokens of a manager.");
  token
    .command("create")
    .summary("make a token, and the line that makes a manager accept it")
    .description(
      "Make a token on this machine, without asking a manager. It is shown only once. A manager accepts it when the line that is printed with it stands in AUTH_TOKENS or in the file of AUTH_TOKENS_FILE. The line holds only a hash, so it does not reveal the token.",
    )
    .argument("<name>", "whose it is; the audit trail shows this name")
    .addOption(new Option("--role <role>", "what the owner of the token may do").choices(ROLES).makeOptionMandatory())
    .option("--append <file>", "put the line at the end of this file, and print only the token")
    .action((name: string, { role, append }: { role: string; append?: string }) => create(io, { name, role, append }));
}

function create(io: Io, { name, role, append }: { name: string; role: string; append?: string | undefined }): void {
  const { token, line } = newToken(name, role);
  if (append === undefined) return io.out(`token: ${token}\nline:  ${line}\n`);
  try {
    appendLine(append, line);
  } catch (error) {
    throw usageFailure(`${append} cannot be written: ${(error as Error).message}`);
  }
  io.out(`${token}\n`);
}

/** Also works if the file's last line lacks its line break. */
function appendLine(file: string, line: string): void {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const end = before === "" || before.endsWith("\n") ? "" : "\n";
  appendFileSync(file, `${end}${line}\n`, { mode: 0o600 });
}
