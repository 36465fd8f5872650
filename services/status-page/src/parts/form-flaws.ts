import { useEffect, useRef, useState } from "react";
import type { FieldErrors } from "../form/params-of.ts";
import { placeErrors } from "../form/place-errors.ts";
import { CallError } from "../wire/call.ts";

/** What is wrong: at its field by pointer, and of the form as a whole. */
export interface FormFlaws {
  errors: FieldErrors;
  rest: readonly string[];
}

const NO_FLAWS: FormFlaws = { errors: {}, rest: [] };

/**
 * Flaws as the form shows them; to be shown some moves the focus to the first that is at a field. It begins at the first with `data-autofocus`: a dialog
 * looks for that only as it opens, and the form may come later.
 */
export function useFormFlaws() {
  const form = useRef<HTMLFormElement>(null);
  const [flaws, setFlaws] = useState(NO_FLAWS);
  useEffect(() => form.current?.querySelector<HTMLElement>("[data-autofocus]")?.focus(), []);
  const show = (found: FormFlaws) => {
    setFlaws(found);
    setTimeout(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  };
  return { form, ...flaws, show, forget: () => setFlaws(NO_FLAWS) };
}

/** What the manager, or whatever was in the way, said against a form with fields of these pointers. */
export function flawsOf(error: unknown, pointers: readonly string[]): FormFlaws {
  if (!(error instanceof CallError)) return { errors: {}, rest: [String(error)] };
  if (error.fieldErrors.length > 0) return placeErrors(error.fieldErrors, pointers);
  return { errors: {}, rest: [`${error.message}. ${error.remedy}`] };
}
