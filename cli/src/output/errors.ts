import { plainText } from "./plain-text.ts";

export interface ShownError {
  name: string;
  message: string;
  /** Only operators and admins receive it. */
  stack?: string | undefined;
}

export const errorLine = ({ name, message }: ShownError): string => plainText(`${name}: ${message}`);

/** The lines of the stack; none if there is no stack. */
export const stackLines = (stack: string | undefined): string[] =>
  (stack ?? "").split("\n").flatMap((line) => (line === "" ? [] : [`    ${plainText(line)}`]));

/** The innermost place of the stack: `Object.run (/observers/a.ts:3:9)`. */
export const thrownAt = (stack: string | undefined): string => (stack ?? "").split("\n", 1)[0]?.replace(/^at /, "") ?? "";
