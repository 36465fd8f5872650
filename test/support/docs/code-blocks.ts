/** A block of code of a page, by the words behind its fence: a language, and for some of them one of the two others. */
export interface CodeBlock {
  page: string;
  /** Of its fence in the page, from 1. */
  line: number;
  language: string;
  text: string;
  /** `file=NAME`: what other blocks of the page import it by. */
  file?: string;
  /** `fragment: REASON`: it cannot stand alone, so that it is not compiled. */
  fragment?: string;
}

/**
 * All blocks of a page. Throws, with the place, where one has no language, no end, or words that mean nothing.
 * @param text of the page
 */
export function codeBlocksOf(page: string, text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { block: CodeBlock; lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const at = `${page}:${index + 1}`;
    const words = /^[\s>]*(?:```|~~~)(.*)$/.exec(line)?.[1];
    if (words === undefined) open?.lines.push(line);
    else if (open === undefined) open = { block: blockOf(page, index + 1, words, at), lines: [] };
    else if (words.trim() === "") {
      open.block.text = open.lines.map((each) => `${each}\n`).join("");
      blocks.push(open.block);
      open = undefined;
    } else throw new Error(`${at}: a block begins inside of another`);
  }
  if (open !== undefined) throw new Error(`${page}:${open.block.line}: the block has no end`);
  return blocks;
}

function blockOf(page: string, line: number, words: string, at: string): CodeBlock {
  const [, language, more = ""] = /^(\w+)(?: (.*))?$/.exec(words) ?? [];
  if (language === undefined) throw new Error(`${at}: a block needs a language`);
  const block = { page, line, language, text: "" };
  if (more === "") return block;
  const [, file] = /^file=([\w./-]+)$/.exec(more) ?? [];
  if (file !== undefined) return { ...block, file };
  const [, fragment] = /^fragment: (\S.*)$/.exec(more) ?? [];
  if (fragment !== undefined) return { ...block, fragment };
  throw new Error(`${at}: behind the language stands "file=NAME" or "fragment: REASON", and not "${more}"`);
}
