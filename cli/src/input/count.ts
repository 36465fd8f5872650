import { usageFailure } from "../failure.ts";

export function toCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageFailure(`"${text}" is no count`, "It is a whole number from 1 on.");
  return Number(text);
}
