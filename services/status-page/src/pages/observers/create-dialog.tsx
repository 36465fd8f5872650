import { Modal } from "@mantine/core";
import { type ComponentProps, useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useFirst } from "../../live/use-first.ts";
import { Blank } from "../../parts/blank.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { CreateForm } from "./create-form.tsx";

export function CreateDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const leave = () => !isBusy && onClose();
  return (
    <Modal opened={opened} onClose={leave} title="New observer" size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      {opened && <WithTypes isBusy={isBusy} onBusy={setBusy} onClose={onClose} />}
    </Modal>
  );
}

/** The types are asked for each time: a service with a new one may have come. Once there is a form it keeps those that it began with. */
function WithTypes(form: Omit<ComponentProps<typeof CreateForm>, "types">) {
  const { data, failure, reload } = useAnswer("listTypes", {});
  const types = useFirst(data !== null && data.items.length > 0 ? data.items : null);
  if (types !== null) return <CreateForm {...form} types={types} />;
  if (data === null) return <Unanswered what="The observer types" height="22rem" failure={failure} onRetry={reload} />;
  return (
    <Blank title="No service is alive">
      <p>The services say which types there are. Start an observer-service, then open this again.</p>
    </Blank>
  );
}
