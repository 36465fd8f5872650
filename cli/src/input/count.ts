import { usageFailure } from "../failure.ts";

export function toCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageFailure(`"${text}" is not a count`, "It is a whole number, 1 or more.");
  return Number(text);
}
