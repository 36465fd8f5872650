import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { PoolName, ROLES, TypeName } from "@unacked/contracts";
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
    .option("--type <name...>", "of a taker: tasks of these types alone may be taken with it")
    .option("--pool <name...>", "of a taker: tasks in these pools alone may be taken with it")
    .option("--append <file>", "put the line at the end of this file, and print only the token")
    .action((name: string, options: CreateOptions) => create(io, name, options));
}

interface CreateOptions {
  role: string;
  type?: string[];
  pool?: string[];
  append?: string;
}

function create(io: Io, name: string, { role, type: types, pool: pools, append }: CreateOptions): void {
  const { token, line } = newToken(name, role, shareOf(role, { types, pools }));
  if (append === undefined) return io.out(`token: ${token}\nline:  ${line}\n`);
  try {
    appendLine(append, line);
  } catch (error) {
    throw usageFailure(`${append} cannot be written: ${(error as Error).message}`);
  }
  io.out(`${token}\n`);
}

/** What the manager would refuse in the line is refused here, where it can be typed again. */
function shareOf(role: string, share: { types: string[] | undefined; pools: string[] | undefined }): typeof share {
  const { types = [], pools = [] } = share;
  if (role !== "taker" && types.length + pools.length > 0)
    throw usageFailure(
      `--type and --pool are for the role taker, and not for ${role}`,
      "Another role may see and take all.",
    );
  for (const type of types) if (!TypeName.safeParse(type).success) throw usageFailure(`"${type}" cannot be a type's name`);
  for (const pool of pools) if (!PoolName.safeParse(pool).success) throw usageFailure(`"${pool}" cannot be a pool's name`);
  return share;
}

/** Also works if the file's last line lacks its line break. */
function appendLine(file: string, line: string): void {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const end = before === "" || before.endsWith("\n") ? "" : "\n";
  appendFileSync(file, `${end}${line}\n`, { mode: 0o600 });
}
