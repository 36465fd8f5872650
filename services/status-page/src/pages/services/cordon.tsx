import type { ButtonProps } from "@mantine/core";
import type { ServiceView } from "@unacked/contracts";
import { ActionButton } from "../../parts/action-button.tsx";
import { useAction } from "../../parts/use-action.ts";
import { cordonService, uncordonService } from "../../wire/actions.ts";

interface Props {
  service: ServiceView;
  size: ButtonProps["size"];
}

/** Harmless and taken back at once: nobody is asked before. What the manager has against it is said. */
export function Cordon({ service: { id, name, draining, cordoned }, size }: Props) {
  const { isBusy, run } = useAction();
  const isClosed = draining || cordoned;
  const send = async () => {
    await (isClosed ? uncordonService(id) : cordonService(id));
    return undefined; // what becomes of it, the stream tells
  };
  return (
    <ActionButton
      call={isClosed ? "uncordonService" : "cordonService"}
      size={size}
      variant="default"
      isBusy={isBusy}
      onClick={() => run(send)}
    >
      {isClosed ? "Uncordon" : "Cordon"}
      <span className="unseen"> {name}</span>
    </ActionButton>
  );
}
