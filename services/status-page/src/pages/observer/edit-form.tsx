import { Checkbox } from "@mantine/core";
import {
  DEFAULT_RETRY,
  type ObserverTypeInfo,
  type ObserverView,
  type RetryPolicy,
  type Silence,
  specTag,
} from "@unacked/contracts";
import { type FormEvent, useMemo, useState } from "react";
import { editedParams, editOf } from "../../form/edited-params.ts";
import type { FieldValues } from "../../form/params-of.ts";
import { readSpec, SPEC_POINTERS, specTexts } from "../../form/spec-texts.ts";
import css from "../../parts/form.module.css";
import { FormEnd } from "../../parts/form-end.tsx";
import { type FormFlaws, flawsOf, useFormFlaws } from "../../parts/form-flaws.ts";
import { ParamsFields, PoolAndLabels, RetryField } from "../../parts/observer-fields.tsx";
import { SILENCE_POINTERS, SilenceFields, silenceOf } from "../../parts/silence-fields.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { changeText } from "../../store/change-text.ts";
import { CallError, call } from "../../wire/call.ts";

interface Props {
  observer: ObserverView;
  /** Undefined: no service knows its type. */
  info: ObserverTypeInfo | undefined;
  /** Its call is under way: nobody leaves it then, as they would not be told what became of that. */
  isBusy: boolean;
  onBusy: (isBusy: boolean) => void;
  onClose: () => void;
  onDone: () => void;
}

/** All that can be changed of an observer, as it is. What is wrong is said at its field, by this page or by the manager. */
export default function EditForm({ observer, info, isBusy, onBusy, onClose, onDone }: Props) {
  const edit = useMemo(() => editOf(info?.paramsSchema ?? {}, observer.params), [info, observer]);
  const [values, setValues] = useState<FieldValues>(edit.start);
  const [texts, setTexts] = useState(() => specTexts(observer));
  const [silence, setSilence] = useState(() => typedSilence(observer));
  const [mayWait, setMayWait] = useState(false);
  const { form, errors, rest, show } = useFormFlaws();
  const { say } = useNotices();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { params, errors: wrongParams } = editedParams(edit, observer.params, values);
    const { spec, errors: wrongSpec } = readSpec(texts);
    const { silence: wanted, errors: wrongSilence } = silenceOf(silence);
    const wrong = { ...wrongParams, ...wrongSpec, ...wrongSilence };
    if (Object.keys(wrong).length > 0) return show({ errors: wrong, rest: [] });
    onBusy(true);
    try {
      const answer = await call("changeObserver", {
        path: { ref: observer.id },
        query: { whenFull: mayWait ? "queue" : "reject" },
        body: {
          ...spec,
          params,
          retry: (spec.retry as RetryPolicy | undefined) ?? DEFAULT_RETRY,
          silence: wanted ?? emptied(observer),
        },
        ifMatch: specTag(observer),
      });
      say("done", changeText(answer, info?.onUpdate === true));
      onDone();
      onClose();
    } catch (error) {
      const pointers = [...edit.fields.map(({ pointer }) => pointer), "/params", ...SPEC_POINTERS, ...SILENCE_POINTERS];
      show(refusalOf(error, pointers));
    }
    onBusy(false);
  };

  return (
    <form ref={form} className={css.form} noValidate onSubmit={(event) => void submit(event)}>
      <ParamsFields fields={edit.fields} values={values} errors={errors} onChange={setValues} />
      <PoolAndLabels
        texts={texts}
        errors={errors}
        aboutLabels="; changing only these needs no restart"
        onChange={(change) => setTexts({ ...texts, ...change })}
      />
      <RetryField texts={texts} errors={errors} onChange={(change) => setTexts({ ...texts, ...change })} />
      <SilenceFields value={silence} ofType={info?.silence} errors={errors} onChange={setSilence} />
      {texts.pool !== observer.pool && (
        <Checkbox
          label="If no worker is free in that pool, let it wait for one"
          checked={mayWait}
          onChange={(event) => setMayWait(event.currentTarget.checked)}
        />
      )}
      <FormEnd rest={rest} isBusy={isBusy} onClose={onClose}>
        Save
      </FormEnd>
    </form>
  );
}

/** `{}` is watched by nobody, and looks as empty: it stays so. */
const emptied = ({ silence }: ObserverView): Silence | null =>
  silence !== null && Object.keys(silence).length === 0 ? {} : null;

const secondsOf = (ms: number | undefined): string => (ms === undefined ? "" : String(ms / 1_000));

const typedSilence = ({ silence }: ObserverView) => ({
  warn: secondsOf(silence?.warnAfterMs),
  restart: secondsOf(silence?.restartAfterMs),
});

function refusalOf(error: unknown, pointers: string[]): FormFlaws {
  if (!(error instanceof CallError) || error.code !== "spec-changed") return flawsOf(error, pointers);
  const text = `Somebody else has changed it meanwhile. ${error.message}. Close this, look, and edit it again.`;
  return { errors: {}, rest: [text] };
}
