import { useState } from "react";
import { sayFailure, useNotices } from "../../shell/notices.tsx";

/** Does something, one at a time, and says what became of it. `deed` resolves to what is said when it went well. */
export function useDeed(onDone: () => void): { isBusy: boolean; run: (deed: () => Promise<string>) => void } {
  const [isBusy, setBusy] = useState(false);
  const { say } = useNotices();
  const run = (deed: () => Promise<string>) => {
    setBusy(true);
    deed()
      .then(
        (text) => say("done", text),
        (error: unknown) => say("refused", sayFailure(error)),
      )
      .finally(() => {
        setBusy(false);
        onDone();
      });
  };
  return { isBusy, run };
}
