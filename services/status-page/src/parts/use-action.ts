import { useRef, useState } from "react";
import { useNotices } from "../shell/notices.tsx";
import { sayFailure } from "../wire/say-failure.ts";

/** Does something, one at a time, and says what became of it. `action` resolves to what is said when it went well, or to nothing where that is seen. */
export function useAction(onDone: () => void = () => undefined): {
  isBusy: boolean;
  run: (action: () => Promise<string | undefined>) => void;
} {
  const [isBusy, setBusy] = useState(false);
  const isUnderWay = useRef(false);
  const { say } = useNotices();
  const run = (action: () => Promise<string | undefined>) => {
    if (isUnderWay.current) return; // the second press of a double click comes before anything is drawn
    isUnderWay.current = true;
    setBusy(true);
    action()
      .then(
        (text) => text !== undefined && say("done", text),
        (error: unknown) => say("refused", sayFailure(error)),
      )
      .finally(() => {
        isUnderWay.current = false;
        setBusy(false);
        onDone();
      });
  };
  return { isBusy, run };
}
