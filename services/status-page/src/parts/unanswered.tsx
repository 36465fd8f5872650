import type { CallError } from "../wire/call.ts";
import { Pending } from "./blank.tsx";
import { Failure } from "./failure.tsx";

interface Props {
  /** As a sentence begins with it: `The tasks`. */
  what: string;
  /** Of what will stand there. */
  height: string;
  /** Null: it is on its way. */
  failure: CallError | null;
  onRetry: () => void;
}

/** Instead of what was not read yet: that it is on its way, or why it did not come. */
export function Unanswered({ what, height, failure, onRetry }: Props) {
  if (failure !== null) return <Failure what={what} failure={failure} onRetry={onRetry} />;
  return <Pending label={`Reading ${what.charAt(0).toLowerCase()}${what.slice(1)}`} height={height} />;
}
