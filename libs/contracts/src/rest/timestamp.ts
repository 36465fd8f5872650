import { z } from "zod";

/** What the REST API answers with: ISO 8601, UTC, milliseconds. */
export const Timestamp = z.iso.datetime().describe("ISO 8601, UTC");
