/**
 * Far more than any right body has. Up to that an entry that is too deep is refused alone, as is found when it is parsed; but V8 takes 20 s to
 * parse some millions.
 */
const MAX_LEVELS = 65_536;

/**
 * What V8 has of its heap for each, measured: an object is 24 to 64 bytes, and over 200, more while it is parsed, with a key that no other has,
 * or one that is a number; a list 48 to 56 and 8 for each item, with 16 more as a number and 24 to 32 as a short text; a key that no other has is 66.
 */
const OBJECT_BYTES = 192;
const LIST_BYTES = 64;
const KEY_BYTES = 40;
const ITEM_BYTES = 24;
/** The body as a text, its texts in their values, and what is sent to the database: each of one byte, or of two once a character needs two. */
const TEXTS = 3;

const [QUOTE, BACKSLASH, ZERO, LETTER_U] = [0x22, 0x5c, 0x30, 0x75];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, COMMA, COLON] = [0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x3a];
/** UTF-8: the second, third or fourth byte of a character; the first one of a character that Latin-1 lacks; of one that is two in UTF-16. */
const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
const FIRST_BEYOND_LATIN_1 = 0xc4;
const FIRST_OF_FOUR = 0xf0;

/**
 * About how much of V8's heap a JSON body takes until it is stored, in bytes; undefined: it is nested so deeply that it is not to be parsed. It is
 * asked before the body is parsed: what is short as JSON may take thirty times as much. Text that is no JSON has a weight, too;
 * what is no UTF-8 may have less than it takes, and is not parsed.
 */
export function jsonWeight(body: Uint8Array): number | undefined {
  let weight = 0;
  let depth = 0;
  let characters = body.length;
  let isWide = false;
  for (let i = 0; i < body.length; i += 1) {
    switch (body[i] as number) {
      case QUOTE:
        for (i += 1; i < body.length && body[i] !== QUOTE; i += 1) {
          const byte = body[i] as number;
          if (byte === BACKSLASH) {
            i += 1;
            if (body[i] === LETTER_U) isWide ||= body[i + 1] !== ZERO || body[i + 2] !== ZERO;
          } else if (isContinuation(byte)) characters -= 1;
          else if (byte >= FIRST_BEYOND_LATIN_1) {
            isWide = true;
            if (byte >= FIRST_OF_FOUR) characters += 1;
          }
        }
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        weight += body[i] === OPEN_LIST ? LIST_BYTES : OBJECT_BYTES;
        depth += 1;
        if (depth > MAX_LEVELS) return undefined;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth -= 1;
        break;
      case COLON:
        weight += KEY_BYTES;
        break;
      case COMMA:
        weight += ITEM_BYTES;
    }
  }
  return weight + characters * TEXTS * (isWide ? 2 : 1);
}
