import type { ErrorReport } from "@unacked/contracts";

/** An error as it will stand in the errors table. `messageId` tells a redelivery; null where the message had none. */
export type NewError = Omit<ErrorReport, "kind"> & { messageId: string | null };

export interface ErrorBook {
  /** Safe to repeat: an error of a messageId that is there already is skipped. */
  record(errors: NewError[]): Promise<void>;
}
