import { type Role, roleReaches, WITHHELD } from "@unacked/contracts";
import { z } from "zod";

type Schema = z.core.$ZodTypes;

const known = new WeakMap<z.ZodType, Partial<Record<Role, z.ZodType>>>();

/**
 * The schema of an answer as a role may see it, without what is withheld from that role (WITHHELD). Everything that leaves
 * the REST API goes through it. Throws on a kind of schema that it cannot look into.
 */
export function seenBy<Answer extends z.ZodType>(role: Role, schema: Answer): Answer {
  const ofSchema = known.get(schema) ?? {};
  known.set(schema, ofSchema);
  ofSchema[role] ??= seen(role, schema as unknown as Schema) as unknown as z.ZodType;
  return ofSchema[role] as Answer;
}

/** The same schema object if nothing of it is withheld. */
function seen(role: Role, schema: Schema): Schema {
  const withheld = WITHHELD.get(schema as unknown as z.ZodType);
  if (withheld === undefined || roleReaches(role, withheld.from)) return seenInside(role, schema);
  return (withheld.instead === undefined ? HIDDEN : z.string().transform(withheld.instead)) as Schema;
}

const HIDDEN = z.undefined();

function seenInside(role: Role, schema: Schema): Schema {
  const { def } = schema._zod;
  switch (def.type) {
    case "object": {
      const fields = Object.entries(def.shape).map(([key, field]) => [key, seen(role, field as Schema)] as const);
      const shape = Object.fromEntries(fields.filter(([, field]) => field !== HIDDEN));
      return changed(
        schema,
        { shape },
        fields.some(([key, field]) => field !== def.shape[key]),
      );
    }
    case "union": {
      const options = def.options.map((option) => seen(role, option as Schema));
      return changed(
        schema,
        { options },
        options.some((option, index) => option !== def.options[index]),
      );
    }
    case "array": {
      const element = seen(role, def.element as Schema);
      return changed(schema, { element }, element !== def.element);
    }
    case "record": {
      const valueType = seen(role, def.valueType as Schema);
      return changed(schema, { valueType }, valueType !== def.valueType);
    }
    case "default":
    case "nullable":
    case "optional": {
      const innerType = seen(role, def.innerType as Schema);
      return changed(schema, { innerType }, innerType !== def.innerType);
    }
    case "string":
    case "number":
    case "boolean":
    case "literal":
    case "enum":
    case "null":
    case "unknown":
      return schema;
    default:
      throw new Error(`an answer's schema has a part of type ${def.type}: say here how to look into it`);
  }
}

const changed = (schema: Schema, parts: object, isChanged: boolean): Schema =>
  isChanged ? z.core.clone(schema, { ...schema._zod.def, ...parts } as Schema["_zod"]["def"]) : schema;
