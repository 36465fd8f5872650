import { Checkbox, NativeSelect, TextInput } from "@mantine/core";
import type { RetryPolicy, TypeView } from "@unacked/contracts";
import { type FormEvent, useMemo, useState } from "react";
import { type FieldValues, initialValues, paramsOf } from "../../form/params-of.ts";
import { fieldsOf } from "../../form/schema-fields.ts";
import { readSpec, SPEC_POINTERS } from "../../form/spec-texts.ts";
import css from "../../parts/form.module.css";
import { FormEnd } from "../../parts/form-end.tsx";
import { type FormFlaws, flawsOf, useFormFlaws } from "../../parts/form-flaws.ts";
import { ParamsFields, PoolAndLabels } from "../../parts/observer-fields.tsx";
import { NO_SILENCE, silenceOf } from "../../parts/silence-fields.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { CallError, call } from "../../wire/call.ts";
import { ADVANCED_POINTERS, AdvancedFields } from "./advanced-fields.tsx";

interface Props {
  types: TypeView[];
  /** Its call is under way: nobody leaves it then, as they would not be told what became of that. */
  isBusy: boolean;
  onBusy: (isBusy: boolean) => void;
  onClose: () => void;
}

/** A form made from the type's JSON Schema. What is wrong is said at its field, by this page or by the manager. */
export function CreateForm({ types, isBusy, onBusy, onClose }: Props) {
  const names = [...new Set(types.map((each) => each.type))];
  const [type, setType] = useState(names[0] ?? "");
  const info = types.find((each) => each.type === type);
  const fields = useMemo(() => fieldsOf(info?.paramsSchema ?? {}), [info]);
  const [values, setValues] = useState<FieldValues>(() => initialValues(fields));
  const [name, setName] = useState("");
  const [texts, setTexts] = useState({ pool: poolFor(info), labels: "", retry: "" });
  const [silence, setSilence] = useState(NO_SILENCE);
  const [startAt, setStartAt] = useState("");
  const [mayWait, setMayWait] = useState(false);
  const { form, errors, rest, show, forget } = useFormFlaws();
  const { say } = useNotices();

  const chooseType = (next: string) => {
    const chosen = types.find((each) => each.type === next);
    setType(next);
    setTexts({ ...texts, pool: poolFor(chosen) });
    setValues(initialValues(fieldsOf(chosen?.paramsSchema ?? {})));
    forget();
  };

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { params, errors: wrongParams } = paramsOf(fields, values);
    const { spec, errors: wrongSpec } = readSpec(texts);
    const { errors: wrongSilence, ...wanted } = silenceOf(silence);
    const wrong = { ...(name === "" && { "/name": "is required" }), ...wrongParams, ...wrongSpec, ...wrongSilence };
    if (Object.keys(wrong).length > 0) return show({ errors: wrong, rest: [] });
    onBusy(true);
    try {
      const body = {
        ...spec,
        ...wanted,
        name,
        type,
        params,
        retry: spec.retry as RetryPolicy | undefined,
        whenFull: mayWait ? ("queue" as const) : ("reject" as const),
        ...(startAt !== "" && { startAt: new Date(startAt).toISOString() }), // without a zone it is read in the browser's own
      };
      const { status } = await call("createObserver", { body });
      say("done", status === "Scheduled" ? `${name} was created, and starts at its time.` : `${name} was created.`);
      onClose();
    } catch (error) {
      show(refusalOf(error, [...OWN_POINTERS, ...fields.map(({ pointer }) => pointer)]));
    }
    onBusy(false);
  };

  return (
    <form ref={form} className={css.form} noValidate onSubmit={(event) => void submit(event)}>
      <NativeSelect
        label="Type"
        description={info?.description}
        data={names}
        value={type}
        error={errors["/type"]}
        onChange={(event) => chooseType(event.currentTarget.value)}
      />
      <TextInput
        data-autofocus
        label="Name"
        description="Letters, digits and . _ : - ; nobody else may have it while the observer lives"
        withAsterisk
        aria-required
        autoComplete="off"
        spellCheck={false}
        value={name}
        error={errors["/name"]}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <ParamsFields key={type} fields={fields} values={values} errors={errors} onChange={setValues} />
      <PoolAndLabels texts={texts} errors={errors} onChange={(change) => setTexts({ ...texts, ...change })} />
      <Checkbox
        label="If no worker is free, let it wait for one"
        checked={mayWait}
        onChange={(event) => setMayWait(event.currentTarget.checked)}
      />
      <AdvancedFields
        texts={texts}
        onTexts={(change) => setTexts({ ...texts, ...change })}
        silence={silence}
        ofType={info?.silence}
        onSilence={setSilence}
        startAt={startAt}
        onStartAt={setStartAt}
        errors={errors}
      />
      <FormEnd rest={rest} isBusy={isBusy} onClose={onClose}>
        Create
      </FormEnd>
    </form>
  );
}

const OWN_POINTERS = ["/name", "/type", ...SPEC_POINTERS, ...ADVANCED_POINTERS];

/** One whose services have the type. */
function poolFor(info: TypeView | undefined): string {
  const pools = info?.pools ?? [];
  return pools.includes("default") ? "default" : (pools[0] ?? "default");
}

function refusalOf(error: unknown, pointers: string[]): FormFlaws {
  if (!(error instanceof CallError)) return flawsOf(error, pointers);
  if (error.code === "name-taken") return { errors: { "/name": `is taken. ${error.remedy}` }, rest: [] };
  if (error.code === "unknown-type") return { errors: { "/type": `${error.message}. ${error.remedy}` }, rest: [] };
  return flawsOf(error, pointers);
}
