import { ADDED_LATER } from "@unacked/contracts";
import { z } from "zod";

type Schema = z.core.$ZodTypes;
type Fields = Record<string, unknown>;

/**
 * Completes the answer of an older manager by what ADDED_LATER says of missing fields. It is used only for an answer that lacks the
 * contract's shape, as a manager of this version says all of it.
 */
export function withWhatIsAbsent(schema: z.core.$ZodType, value: unknown): unknown {
  const { def } = (schema as Schema)._zod;
  switch (def.type) {
    case "object":
      return isFields(value) ? withFields(def.shape, value) : value;
    case "array":
      return Array.isArray(value) ? value.map((one) => withWhatIsAbsent(def.element, one)) : value;
    case "record":
      return isFields(value) ? eachOf(value, (one) => withWhatIsAbsent(def.valueType, one)) : value;
    case "union": {
      if (def.options.some((option) => z.safeParse(option, value).success)) return value;
      const readings = def.options.map((option) => ({ option, reading: withWhatIsAbsent(option, value) }));
      const first = readings.find(({ option, reading }) => z.safeParse(option, reading).success);
      return first === undefined ? value : first.reading;
    }
    case "nullable":
    case "optional":
      return value === null || value === undefined ? value : withWhatIsAbsent(def.innerType, value);
    default:
      return value;
  }
}

/**
 * What the field's absence means. Undefined means that managers always said it, so that an answer without it is not one of a
 * manager.
 */
export function whatItMeans(field: z.core.$ZodType, others: Fields): { value: unknown } | undefined {
  const later = ADDED_LATER.get(field);
  if (later === undefined) return undefined;
  return { value: "of" in later ? others[later.of] : structuredClone(later.means) };
}

function withFields(shape: Readonly<Record<string, z.core.$ZodType>>, value: Fields): Fields {
  const whole: Fields = { ...value };
  for (const [name, field] of Object.entries(shape)) {
    const meant = Object.hasOwn(value, name) ? { value: withWhatIsAbsent(field, value[name]) } : whatItMeans(field, value);
    if (meant !== undefined) whole[name] = meant.value;
  }
  return whole;
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

const eachOf = (value: Fields, read: (one: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, read(one)]));
