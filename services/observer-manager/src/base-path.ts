import { z } from "zod";

/** What answers at the root of a manager wherever the rest of it is. */
const AT_THE_ROOT = ["/healthz", "/readyz", "/metrics"];

/** Nothing in it means anything to a URL, to HTML or to a route: what is taken here can be put anywhere as it is. */
const BASE_PATH = /^(\/[A-Za-z0-9_~-]+)+$/;

/** The path below which a manager answers, as `/unacked`; "" for none. */
export const basePath = (): z.ZodType<string, unknown> =>
  z
    .string({ error: "must be text" })
    .max(200, "must have at most 200 characters")
    .regex(
      BASE_PATH,
      "must begin with / and not end with one, such as /unacked, with A-Z a-z 0-9 _ ~ - between the slashes: no dots, no query",
    )
    .refine((path) => !AT_THE_ROOT.includes(path), `must not be one of ${AT_THE_ROOT.join(", ")}, which stay at the root`)
    .default("");
