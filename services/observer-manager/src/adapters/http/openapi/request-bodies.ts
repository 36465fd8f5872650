/** A schema, or another part of the document. */
type Part = Record<string, unknown>;

interface Document {
  paths: Record<string, Record<string, { requestBody?: RequestBody | Reference }>>;
  components: Record<string, Part>;
}

interface RequestBody {
  content: Record<string, { schema?: Part }>;
}

interface Reference {
  $ref: string;
}

const SCHEMAS = "#/components/schemas/";

/**
 * Moves each named body to `components.requestBodies`, as a whole, and removes schemas that only bodies refer to. A field
 * with a default may be left out of a body, but is in every answer: generators of clients tell the two apart by the field's
 * place (openapi-typescript makes it optional only in a request body), not by who refers to it.
 */
export function nameRequestBodies(document: object): void {
  const { paths, components } = document as Document;
  const schemas = components["schemas"] as Record<string, Part>;
  const bodies: Record<string, RequestBody> = {};
  for (const operations of Object.values(paths))
    for (const operation of Object.values(operations)) {
      const { requestBody } = operation;
      if (requestBody === undefined || "$ref" in requestBody) continue;
      const name = nameOf(requestBody);
      if (name === undefined) continue;
      for (const media of Object.values(requestBody.content))
        media.schema = withoutReferences(media.schema, schemas) as Part;
      bodies[name] = requestBody;
      operation.requestBody = { $ref: `#/components/requestBodies/${name}` };
    }
  components["requestBodies"] = bodies;
  removeUnused(document, schemas);
}

/** Repeats, as a schema that is removed may have been the last to refer to another. */
function removeUnused(document: object, schemas: Record<string, Part>): void {
  const text = JSON.stringify(document);
  const unused = Object.keys(schemas).filter((name) => !text.includes(`"${SCHEMAS}${name}"`));
  for (const name of unused) delete schemas[name];
  if (unused.length > 0) removeUnused(document, schemas);
}

/** The name of the body's JSON schema. */
function nameOf({ content }: RequestBody): string | undefined {
  const reference = content["application/json"]?.schema?.["$ref"];
  return typeof reference === "string" ? reference.slice(SCHEMAS.length) : undefined;
}

/** A copy with the schemas in place of references. None of them refers to itself. */
function withoutReferences(part: unknown, schemas: Record<string, Part>): unknown {
  if (Array.isArray(part)) return part.map((one) => withoutReferences(one, schemas));
  if (typeof part !== "object" || part === null) return part;
  const { $ref, ...rest } = part as Part & { $ref?: string };
  const whole = $ref?.startsWith(SCHEMAS) ? { ...schemas[$ref.slice(SCHEMAS.length)], ...rest } : (part as Part);
  return Object.fromEntries(Object.entries(whole).map(([key, value]) => [key, withoutReferences(value, schemas)]));
}
