import { type Document, parseAllDocuments } from "yaml";
import { usageFailure } from "../failure.ts";
import { jsonValue, yamlValue } from "./exact-numbers.ts";

export interface ReadDocument {
  value: unknown;
  /** For messages: `observers.yaml, document 2`. */
  place: string;
}

/**
 * Reads the documents of a file: YAML with any number of them, JSON, a list of them in either, or what `unacked get -o
 * json|yaml` writes (`items`).
 */
export function parseDocuments(text: string, source: string): ReadDocument[] {
  const values = asJson(text, source) ?? fromYaml(text, source);
  const all = values.flatMap(unwrapped);
  return all.map((value, index) => ({ value, place: all.length === 1 ? source : `${source}, document ${index + 1}` }));
}

/** JSON is parsed as JSON, as it is only nearly YAML (tabs). */
function asJson(text: string, source: string): unknown[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return [jsonValue(text)];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw wrongIn(source, error);
    if (source.endsWith(".json")) throw usageFailure(`${source} is not JSON: ${(error as Error).message}`);
    return undefined; // YAML may begin like JSON
  }
}

function fromYaml(text: string, source: string): unknown[] {
  const documents = parseAllDocuments(text);
  const values =
    "empty" in documents
      ? []
      : documents.map((document) => {
          const [error] = document.errors;
          if (error !== undefined)
            throw usageFailure(`${source} is not YAML: ${error.message.split("\n")[0]?.replace(/:$/, "")}`);
          return valueOf(document, source);
        });
  return values.filter((value) => value !== null && value !== undefined); // there was nothing between two `---`
}

function valueOf(document: Document, source: string): unknown {
  try {
    return yamlValue(document);
  } catch (error) {
    throw wrongIn(source, error); // such as an alias that refers to nothing
  }
}

const wrongIn = (source: string, error: unknown) =>
  usageFailure(
    `${source}: ${(error as Error).message}`,
    "Put a text with special characters, or an id of many digits, in quotes.",
  );

function unwrapped(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  const items = (value as { items?: unknown }).items;
  return typeof value === "object" && Array.isArray(items) ? (items as unknown[]) : [value];
}
