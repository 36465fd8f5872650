import { Modal } from "@mantine/core";
import { useAnswer } from "../../live/use-answer.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { Failure } from "../../parts/failure.tsx";
import { CreateForm } from "./create-form.tsx";

export function CreateDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="New observer" size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      {opened && <WithTypes onClose={onClose} />}
    </Modal>
  );
}

/** The types are asked for each time: a service with a new one may have come. */
function WithTypes({ onClose }: { onClose: () => void }) {
  const { data, failure, reload } = useAnswer("listTypes", {});
  if (data === null && failure !== null) return <Failure what="The observer types" failure={failure} onRetry={reload} />;
  if (data === null) return <Pending label="Reading the observer types" height="22rem" />;
  if (data.items.length === 0) {
    return (
      <Blank title="No service is alive">
        <p>What types there are is said by the services. Start an observer-service, then open this again.</p>
      </Blank>
    );
  }
  return <CreateForm types={data.items} onClose={onClose} />;
}
