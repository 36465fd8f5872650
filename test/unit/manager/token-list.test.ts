import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newToken } from "../../../cli/src/config/new-token.ts";
import { TokenBook } from "../../../services/observer-manager/src/adapters/access/token-book.ts";
import { WHOLE } from "../../../services/observer-manager/src/domain/access/task-share.ts";
import { parseTokenList } from "../../../services/observer-manager/src/domain/access/token-list.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const [A, B, C] = ["a", "b", "c"].map(sha256) as [string, string, string];

describe("a list of tokens", () => {
  it("is a line each, or separated by commas, with comments, and several of one name", () => {
    const list = `# who may come in, and as what\nci operator sha256:${A}  # since May, until June\n\r\nme admin sha256:${B.toUpperCase()}, me viewer sha256:${C}`;
    expect(parseTokenList(list)).toEqual({
      problems: [],
      tokens: [
        { name: "ci", role: "operator", sha256: A, share: WHOLE },
        { name: "me", role: "admin", sha256: B, share: WHOLE },
        { name: "me", role: "viewer", sha256: C, share: WHOLE },
      ],
    });
  });

  it("has behind a taker's what it may take, with commas before the next line", () => {
    const list = `p taker sha256:${A} type:paint  type:sketch pool:default, q taker sha256:${B}`;
    expect(parseTokenList(list)).toEqual({
      problems: [],
      tokens: [
        { name: "p", role: "taker", sha256: A, share: { types: ["paint", "sketch"], pools: ["default"] } },
        { name: "q", role: "taker", sha256: B, share: WHOLE },
      ],
    });
  });

  it.each([
    ["ci operator", "must be: name role sha256:<64 hex digits>"],
    [`ci operator sha256:${A.slice(1)}`, "must be: name role sha256:<64 hex digits>"],
    ["ci operator unacked_a-plain-token", "must be: name role sha256:<64 hex digits>"],
    [`ci root sha256:${A}`, "the role must be one of taker, viewer, operator, admin"],
    [`ci __proto__ sha256:${A}`, "the role must be one of taker, viewer, operator, admin"],
    [`ci operator sha256:${A} type:paint`, "only behind a taker's may stand type:<name> and pool:<name>"],
    [`p taker sha256:${A} types:paint`, "behind the hash may stand type:<name> and pool:<name>"],
    [`p taker sha256:${A} type:*`, "behind type: must stand the name of a type of tasks"],
    [`p taker sha256:${A} type:`, "behind type: must stand the name of a type of tasks"],
    [`p taker sha256:${A} type:paint pool:a.b`, "behind pool: must stand the name of a pool"],
    [`${"x".repeat(65)} viewer sha256:${A}`, "the name must be 1 to 64 of"],
    [`na\u00efve viewer sha256:${A}`, "the name must be 1 to 64 of"],
  ])("names the line that is wrong, and does not repeat what stands in it: %s", (line, problem) => {
    const { problems } = parseTokenList(`me admin sha256:${B}\n${line}`);
    expect(problems).toEqual([expect.stringContaining(`line 2: ${problem}`)]);
    expect(problems.join()).not.toContain("unacked_");
  });

  it("takes no token twice, as its role would be anybody's guess", () => {
    expect(parseTokenList(`a viewer sha256:${A}\nb admin sha256:${A}`).problems).toEqual([
      "line 2: the same token stands above already",
    ]);
  });
});

describe("the book of tokens", () => {
  it("knows a token by its hash, and nothing else", () => {
    const { token, line } = newToken("ci", "operator");
    const book = TokenBook.of(`${newToken("me", "admin").line}\n${line}`);
    expect(book.find(token)).toEqual({
      name: "ci",
      role: "operator",
      authentication: "token",
      expiresAtMs: null,
      share: WHOLE,
    });
    const hash = line.split("sha256:")[1] ?? "";
    for (const other of ["", `${token}x`, token.slice(0, -1), hash, `sha256:${hash}`, "ci", "\0", "💥"])
      expect(book.find(other), other).toBeUndefined();
  });

  it("is none with a line that is wrong", () => {
    expect(() => TokenBook.of("nonsense")).toThrow("AUTH_TOKENS, line 1: must be: name role sha256:<64 hex digits>");
  });

  it("a token made by the command line is 256 random bits, with a beginning that scanners for leaks can look for", () => {
    const made = Array.from({ length: 20 }, () => newToken("x", "viewer").token);
    expect(new Set(made).size).toBe(20);
    for (const token of made) {
      expect(token).toMatch(/^unacked_[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(token.slice("unacked_".length), "base64url")).toHaveLength(32);
    }
  });
});
