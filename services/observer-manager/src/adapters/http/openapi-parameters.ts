import { z } from "zod";

/** What stands in braces in a path. A new one is described here. */
const PATH_PARAMETERS: Record<string, z.ZodType> = {
  ref: z
    .string()
    .describe("the observer's name or id; one that is Deleted is found by its id alone")
    .meta({ examples: ["shop-front"] }),
  service: z
    .string()
    .describe("the service's name or id; of several boots of one name the one that lives")
    .meta({ examples: ["observer-service-1"] }),
  errorId: z
    .string()
    .regex(/^[0-9]{1,18}$/)
    .describe("the `id` of an entry in GET /errors")
    .meta({ examples: ["42"] }),
};

/** The parameters of a path such as `/observers/{ref}`, undefined when it has none. Throws for one that nobody described. */
export function pathParametersOf(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return names.length === 0 ? undefined : z.object(Object.fromEntries(names.map((name) => [name, described(name)])));
}

function described(name: string): z.ZodType {
  const schema = PATH_PARAMETERS[name];
  if (schema === undefined) throw new Error(`the path parameter {${name}} is not described in openapi-parameters.ts`);
  return schema;
}
