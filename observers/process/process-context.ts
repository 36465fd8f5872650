import type { CheckpointContext, ObserverContext } from "@unacked/sdk";
import { z } from "zod";
import type { ProcessParams } from "./process-params.ts";

/** What the file of a command held, or what a worker has said; one protocol's is nothing to the other. */
export const ProcessCheckpoint = z.union([z.strictObject({ text: z.string() }), z.strictObject({ json: z.unknown() })]);

export type ProcessContext = ObserverContext<ProcessParams> & CheckpointContext<z.output<typeof ProcessCheckpoint>>;
