import { sayCount } from "./say.ts";

/** `once`, `twice`, `3 times`. */
export const sayTimes = (count: number): string =>
  count === 1 ? "once" : count === 2 ? "twice" : `${sayCount(count)} times`;
