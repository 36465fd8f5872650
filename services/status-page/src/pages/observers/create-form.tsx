import { Button, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import type { TypeView } from "@unacked/contracts";
import { type FormEvent, useMemo, useRef, useState } from "react";
import { labelsOf } from "../../form/labels-of.ts";
import { type FieldErrors, type FieldValues, initialValues, paramsOf } from "../../form/params-of.ts";
import { placeErrors } from "../../form/place-errors.ts";
import { fieldsOf } from "../../form/schema-fields.ts";
import { useNotices } from "../../shell/notices.tsx";
import { CallError, call } from "../../wire/call.ts";
import css from "./create-form.module.css";
import { ParamField } from "./param-field.tsx";

interface Basics {
  name: string;
  pool: string;
  labels: string;
  mayWait: boolean;
}

const OWN_POINTERS = ["/name", "/type", "/pool", "/labels"];

/** A form made from the type's JSON Schema. What is wrong is said at its field, by this page or by the manager. */
export function CreateForm({ types, onClose }: { types: TypeView[]; onClose: () => void }) {
  const names = [...new Set(types.map((each) => each.type))];
  const [type, setType] = useState(names[0] ?? "");
  const info = types.find((each) => each.type === type);
  const fields = useMemo(() => fieldsOf(info?.paramsSchema ?? {}), [info]);
  const [basics, setBasics] = useState<Basics>({ name: "", pool: poolFor(info), labels: "", mayWait: false });
  const [values, setValues] = useState<FieldValues>(() => initialValues(fields));
  const [errors, setErrors] = useState<FieldErrors>({});
  const [rest, setRest] = useState<string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { say } = useNotices();

  const chooseType = (next: string) => {
    const chosen = types.find((each) => each.type === next);
    setType(next);
    setBasics({ ...basics, pool: poolFor(chosen) });
    setValues(initialValues(fieldsOf(chosen?.paramsSchema ?? {})));
    setErrors({});
    setRest([]);
  };

  const show = (found: FieldErrors, whole: string[]) => {
    setErrors(found);
    setRest(whole);
    setTimeout(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  };

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { params, errors: found } = paramsOf(fields, values);
    const labels = labelsOf(basics.labels);
    const own = {
      ...(basics.name === "" && { "/name": "is required" }),
      ...("error" in labels && { "/labels": labels.error }),
      ...found,
    };
    if (Object.keys(own).length > 0 || "error" in labels) return show(own, []);
    setBusy(true);
    try {
      const body = {
        name: basics.name,
        type,
        params,
        pool: basics.pool,
        ...labels,
        whenFull: basics.mayWait ? ("queue" as const) : ("reject" as const),
      };
      const { name } = await call("createObserver", { body });
      say("done", `${name} was created.`);
      onClose();
    } catch (error) {
      const { errors: placed, rest: whole } = refusalOf(error, [...OWN_POINTERS, ...fields.map(({ pointer }) => pointer)]);
      show(placed, whole);
    }
    setBusy(false);
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
        value={basics.name}
        error={errors["/name"]}
        onChange={(event) => setBasics({ ...basics, name: event.currentTarget.value })}
      />
      <fieldset className={css.params}>
        <legend>Params</legend>
        {fields.length === 0 && <p className={css.none}>This type takes none.</p>}
        {fields.map((field) => (
          <ParamField
            key={`${type} ${field.key}`}
            field={field}
            value={values[field.key] ?? field.initial}
            error={errors[field.pointer]}
            onChange={(value) => setValues({ ...values, [field.key]: value })}
          />
        ))}
      </fieldset>
      <div className={css.two}>
        <TextInput
          label="Pool"
          description="Whose workers it takes"
          value={basics.pool}
          error={errors["/pool"]}
          onChange={(event) => setBasics({ ...basics, pool: event.currentTarget.value })}
        />
        <TextInput
          label="Labels"
          description="key=value, key=value"
          value={basics.labels}
          error={errors["/labels"]}
          onChange={(event) => setBasics({ ...basics, labels: event.currentTarget.value })}
        />
      </div>
      <Checkbox
        label="If no worker is free, let it wait for one"
        checked={basics.mayWait}
        onChange={(event) => setBasics({ ...basics, mayWait: event.currentTarget.checked })}
      />
      {rest.length > 0 && (
        <div role="alert" className={css.rest}>
          {rest.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      <div className={css.buttons}>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={isBusy}>
          Create
        </Button>
      </div>
    </form>
  );
}

/** One whose services have the type. */
function poolFor(info: TypeView | undefined): string {
  const pools = info?.pools ?? [];
  return pools.includes("default") ? "default" : (pools[0] ?? "default");
}

function refusalOf(error: unknown, pointers: string[]): { errors: FieldErrors; rest: string[] } {
  if (!(error instanceof CallError)) return { errors: {}, rest: [String(error)] };
  if (error.code === "name-taken") return { errors: { "/name": `is taken. ${error.remedy}` }, rest: [] };
  if (error.code === "unknown-type") return { errors: { "/type": `${error.message}. ${error.remedy}` }, rest: [] };
  if (error.fieldErrors.length > 0) return placeErrors(error.fieldErrors, pointers);
  return { errors: {}, rest: [`${error.message}. ${error.remedy}`] };
}
