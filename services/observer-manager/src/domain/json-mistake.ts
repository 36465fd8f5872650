/** What may stand at one place of a JSON text (RFC 8259), in words. */
type Expected =
  | "a value"
  | 'a value or "]"'
  | "a name in double quotes"
  | 'a name in double quotes or "}"'
  | '":"'
  | '"," or "}"'
  | '"," or "]"'
  | "the end";

type Kind = "{" | "}" | "[" | "]" | "," | ":" | "text" | "word" | "something else";

/** `open`, `close`: a list or an object begins, or ends · `over`: a value does. */
type Next = Expected | "open" | "close" | "over";

const A_VALUE = { "{": "open", "[": "open", text: "over", word: "over" } as const;

const NEXT: Record<Expected, Partial<Record<Kind, Next>>> = {
  "a value": A_VALUE,
  'a value or "]"': { ...A_VALUE, "]": "close" },
  "a name in double quotes": { text: '":"' },
  'a name in double quotes or "}"': { text: '":"', "}": "close" },
  '":"': { ":": "a value" },
  '"," or "}"': { ",": "a name in double quotes", "}": "close" },
  '"," or "]"': { ",": "a value", "]": "close" },
  "the end": {},
};

/** Characters of a text that are read: nobody waits for what stands behind. */
const MAX_READ = 1_048_576;

/**
 * Where a text stops being JSON, and what could stand there: `line 2, column 5: expected a value, found "}"`. Undefined: it is JSON, or its
 * first MiB is. It takes any depth, without recursion.
 */
export function jsonMistake(text: string): string | undefined {
  const open: Kind[] = [];
  let expected: Expected = "a value";
  let at = endOfSpace(text, 0);
  while (at < text.length) {
    if (at > MAX_READ) return undefined;
    const token = tokenAt(text, at);
    if (token.lacks !== undefined) return mistake(text, token.end, token.lacks);
    const next: Next | undefined = NEXT[expected][token.kind];
    if (next === undefined) return mistake(text, at, expected);
    if (next === "open") open.push(token.kind);
    if (next === "close") open.pop();
    if (next === "open") expected = token.kind === "{" ? 'a name in double quotes or "}"' : 'a value or "]"';
    else if (next === "close" || next === "over") expected = behindValue(open.at(-1));
    else expected = next;
    at = endOfSpace(text, token.end);
  }
  return expected === "the end" ? undefined : mistake(text, at, expected);
}

function behindValue(inside: Kind | undefined): Expected {
  if (inside === undefined) return "the end";
  return inside === "{" ? '"," or "}"' : '"," or "]"';
}

const SPACE = /[ \t\n\r]*/y;
const WORD = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

const endOfSpace = (text: string, from: number): number => endOf(SPACE, text, from);

/** `lacks`: what the token would need at `end`, where it breaks off. */
function tokenAt(text: string, at: number): { kind: Kind; end: number; lacks?: string } {
  const found = text[at] as string;
  if ("{}[],:".includes(found)) return { kind: found as Kind, end: at + 1 };
  if (found === '"') return { kind: "text", ...endOfText(text, at + 1) };
  const end = endOf(WORD, text, at);
  return { kind: end === at ? "something else" : "word", end };
}

function endOfText(text: string, from: number): { end: number; lacks?: string } {
  let at = from;
  for (let found = text[at]; found !== undefined && found >= " "; found = text[at]) {
    if (found === '"') return { end: at + 1 };
    const end = found === "\\" ? endOf(ESCAPE, text, at) : at + 1;
    if (end === at) return { end, lacks: 'an escape that JSON knows, as \\n or \\"' };
    at = end;
  }
  return { end: at, lacks: "a closing double quote" };
}

function mistake(text: string, at: number, expected: string): string {
  const before = text.slice(0, at).split("\n");
  const column = Array.from(before.at(-1) ?? "").length + 1;
  return `line ${before.length}, column ${column}: expected ${expected}, found ${foundAt(text, at)}`;
}

/** One character, or the word that begins there. */
function foundAt(text: string, at: number): string {
  if (at >= text.length) return "the end";
  const [word] = /^[\w'-]{1,20}/.exec(text.slice(at, at + 20)) ?? [String.fromCodePoint(text.codePointAt(at) ?? 0)];
  return word < " " ? "the end of the line" : JSON.stringify(word);
}
