import { PATH_PARAMETERS } from "@unacked/contracts";
import { z } from "zod";

/** The parameters of a path such as `/observers/{ref}`, undefined when it has none. Throws for one that nobody described. */
export function pathParametersOf(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return names.length === 0 ? undefined : z.object(Object.fromEntries(names.map((name) => [name, described(name)])));
}

function described(name: string): z.ZodType {
  const schema = (PATH_PARAMETERS as Record<string, z.ZodType>)[name];
  if (schema === undefined) throw new Error(`the path parameter {${name}} is not described in PATH_PARAMETERS`);
  return schema;
}
