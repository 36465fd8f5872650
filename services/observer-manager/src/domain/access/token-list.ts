import { PoolName, Role, TypeName } from "@unacked/contracts";
import type { z } from "zod";
import type { TaskShare } from "./task-share.ts";

/** A token that is accepted, without the token: a reader of the list cannot use it. */
export interface ListedToken {
  /** Whose it is, as the audit trail will say. */
  name: string;
  role: Role;
  /** SHA-256 of the token, 64 hex digits in lower case. */
  sha256: string;
  /** Of a taker's: `type:` and `pool:` name what its bearer may take. */
  share: TaskShare;
}

const LINE = /^(?<name>\S+)\s+(?<role>\S+)\s+sha256:(?<sha256>[0-9a-fA-F]{64})(?<share>(?:\s+\S+)*)$/;
const NAME = /^[A-Za-z0-9._:@-]{1,64}$/;

/**
 * Reads `name role sha256:<hex>` lines, of a taker with `type:<name>` and `pool:<name>` behind it: comments after `#`, and commas as line breaks, for an environment variable. One name may
 * have several tokens, as while one is exchanged for the next. Problems name the line, never what stands in it.
 */
export function parseTokenList(text: string): { tokens: ListedToken[]; problems: string[] } {
  const problems: string[] = [];
  const tokens = new Map<string, ListedToken>();
  for (const { number, content } of contentsOf(text)) {
    const token = parseLine(content);
    if (typeof token === "string") problems.push(`line ${number}: ${token}`);
    else if (tokens.has(token.sha256)) problems.push(`line ${number}: the same token stands above already`);
    else tokens.set(token.sha256, token);
  }
  return { tokens: [...tokens.values()], problems };
}

function contentsOf(text: string): { number: number; content: string }[] {
  return text.split(/\r?\n/).flatMap((line, index) =>
    line
      .replace(/#.*$/, "")
      .split(",")
      .flatMap((part) => (part.trim() === "" ? [] : [{ number: index + 1, content: part.trim() }])),
  );
}

function parseLine(content: string): ListedToken | string {
  const { name = "", role = "", sha256 = "", share: words = "" } = LINE.exec(content)?.groups ?? {};
  if (sha256 === "") return "must be: name role sha256:<64 hex digits>";
  if (!NAME.test(name)) return "the name must be 1 to 64 of A-Z a-z 0-9 . _ : @ -";
  const known = Role.safeParse(role);
  if (!known.success) return `the role must be one of ${Role.options.join(", ")}`;
  const share = parseShare(words.split(/\s+/).filter((word) => word !== ""));
  if (typeof share === "string") return share;
  if (words !== "" && known.data !== "taker") return "only behind a taker's may stand type:<name> and pool:<name>";
  return { name, role: known.data, sha256: sha256.toLowerCase(), share };
}

function parseShare(words: readonly string[]): TaskShare | string {
  const types = behind("type:", words);
  const pools = behind("pool:", words);
  if (types.length + pools.length < words.length)
    return "behind the hash may stand type:<name> and pool:<name>, of what a taker may take";
  const areNames = (names: readonly string[], schema: z.ZodType): boolean =>
    names.every((name) => schema.safeParse(name).success);
  if (!areNames(types, TypeName)) return "behind type: must stand the name of a type of tasks";
  if (!areNames(pools, PoolName)) return "behind pool: must stand the name of a pool";
  return { types, pools };
}

const behind = (prefix: string, words: readonly string[]): string[] =>
  words.flatMap((word) => (word.startsWith(prefix) ? [word.slice(prefix.length)] : []));
