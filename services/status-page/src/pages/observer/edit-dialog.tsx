import { Modal } from "@mantine/core";
import type { ObserverView } from "@unacked/contracts";
import { type ComponentProps, lazy, Suspense, useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useFirst } from "../../live/use-first.ts";
import { Pending } from "../../parts/blank.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { useFocusBack } from "../../parts/use-focus-back.ts";

/** With all its fields it is a file of its own, fetched ahead as the pages are. */
const EditForm = lazy(() => import("./edit-form.tsx"));

interface Props {
  observer: ObserverView;
  onClose: () => void;
  onDone: () => void;
}

/** What it is when this opens is what is edited, in the fields of its type as it is then: a change by somebody else meanwhile is told, and not overwritten. */
export function EditDialog({ observer, onClose, onDone }: Props) {
  useFocusBack();
  const [opened] = useState(observer);
  const [isBusy, setBusy] = useState(false);
  const leave = () => !isBusy && onClose();
  return (
    <Modal opened onClose={leave} title={`Edit ${opened.name}`} size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      <Suspense fallback={<Pending label="Loading the form" height="22rem" />}>
        <WithType observer={opened} isBusy={isBusy} onBusy={setBusy} onClose={onClose} onDone={onDone} />
      </Suspense>
    </Modal>
  );
}

/** Of its pool, where that has the type; without a service that knows it, its params are edited as JSON. */
function WithType({ observer, ...form }: Omit<ComponentProps<typeof EditForm>, "info">) {
  const { data: latest, failure, reload } = useAnswer("listTypes", {});
  const data = useFirst(latest);
  if (data === null) return <Unanswered what="The observer types" height="22rem" failure={failure} onRetry={reload} />;
  const known = data.items.filter(({ type }) => type === observer.type);
  const info = known.find(({ pools }) => pools.includes(observer.pool)) ?? known[0];
  return <EditForm observer={observer} info={info} {...form} />;
}
