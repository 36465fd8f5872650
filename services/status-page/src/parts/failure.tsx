import { Button } from "@mantine/core";
import type { CallError } from "../wire/call.ts";
import { Blank } from "./blank.tsx";
import { ReloadButton } from "./reload-button.tsx";

/** Instead of what could not be read. */
export function Failure({ what, failure, onRetry }: { what: string; failure: CallError; onRetry: () => void }) {
  return (
    <div role="alert">
      <Blank title={`${what} could not be read`}>
        <p>
          {failure.message}. {failure.remedy}
        </p>
        {failure.isOfProxy && <ReloadButton />}
        {!failure.isOfProxy && failure.code !== "forbidden" && (
          <Button variant="default" size="compact-sm" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Blank>
    </div>
  );
}
