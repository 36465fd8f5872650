import { z } from "zod";

/** A time in answers of the REST API: ISO 8601, UTC, milliseconds. */
export const Timestamp = z.iso.datetime().describe("ISO 8601, UTC");
