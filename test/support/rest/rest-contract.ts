import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { apiRoutes } from "../../../services/observer-manager/src/adapters/http/api/api-routes.ts";
import { openApiDocument } from "../../../services/observer-manager/src/adapters/http/openapi/document.ts";
import { closed } from "./closed-schema.ts";

/** An answer of a manager, as a client saw it. */
export interface SeenAnswer {
  method: string;
  /** With or without origin and query. */
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

interface Media {
  schema: object;
  examples?: Record<string, unknown>;
}

interface Described {
  headers?: Record<string, { $ref?: string }>;
  content?: Record<string, Media>;
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; in: string; required?: boolean; description?: string }[];
  requestBody?: { $ref: string };
  responses: Record<string, Described>;
}

/** What of it is looked at here. */
export interface Document {
  openapi: string;
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<"schemas" | "examples" | "headers" | "requestBodies", Record<string, object>>;
}

/** Routes are described before anything is asked of them. */
export const openApi = (): Document => openApiDocument(apiRoutes({} as never), "0.0.0") as Document;

/** What a call takes; the document has it under its name. */
export function bodyOf(
  { components }: Document,
  { requestBody }: Operation,
): { content: Record<string, Media> } | undefined {
  const name = requestBody?.$ref.split("/").at(-1) ?? "";
  return components.requestBodies[name] as { content: Record<string, Media> } | undefined;
}

const STREAM = "text/event-stream";

/** What is asked of no operation: a path or a method that is not there, or a path that cannot be read. */
const CODES_OUTSIDE = ["not-found", "method-not-allowed", "malformed-request", "cross-origin"];

/**
 * The OpenAPI document as a judge of answers: path, method, status, media type, headers, every field of the body. Answers are
 * closed here, although clients are told to expect new fields: what the document does not know is a flaw.
 */
export class RestContract {
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #templates: { path: string; pattern: RegExp }[];

  constructor(document: Document) {
    this.#document = closed(document);
    formats.default(this.#ajv);
    this.#ajv.addSchema(this.#document, "openapi");
    // A word of the API goes before a name in its place.
    this.#templates = Object.keys(document.paths)
      .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`) }))
      .toSorted((a, b) => a.path.split("{").length - b.path.split("{").length);
  }

  /** `getObserver 200`, … of all that is described. */
  get described(): string[] {
    return Object.values(this.#document.paths).flatMap((operations) =>
      Object.values(operations).flatMap(({ operationId, responses }) =>
        Object.keys(responses).map((status) => `${operationId} ${status}`),
      ),
    );
  }

  /** Of what the answer is, as in `described`; undefined where it answers no operation. */
  nameOf({ method, url, status }: SeenAnswer): string | undefined {
    const operation = this.#operationOf(method, url);
    return operation && `${operation.value.operationId} ${status}`;
  }

  /** What is not as the document says, each with its place; none when all is. Pages and their files are nobody's concern. */
  flawsOf(answer: SeenAnswer): string[] {
    const operation = this.#operationOf(answer.method, answer.url);
    const flaws = operation === undefined ? this.#outside(answer) : this.#answered(operation, answer);
    return flaws.map((flaw) => `${answer.method} ${answer.url} answered ${answer.status}: ${flaw}`);
  }

  /** Of one server-sent event of the stream at this address. */
  flawsOfEvent(url: string, event: string, data: unknown): string[] {
    const operation = this.#operationOf("GET", url);
    if (operation?.value.responses["200"]?.content?.[STREAM] === undefined) return [`${url} is no stream of the document`];
    const place = `${operation.pointer}/responses/200/content/${token(STREAM)}/schema/contentSchema`;
    return this.flawsAt(place, { event, data }).map((flaw) => `${url} sent ${event}: ${flaw}`);
  }

  /** Holds a value against the schema at a JSON pointer of the document (its tokens as `token` makes them). */
  flawsAt(pointer: string, value: unknown): string[] {
    let validate = this.#validators.get(pointer);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `openapi#${pointer}` });
      this.#validators.set(pointer, validate);
    }
    return validate(value) ? [] : (validate.errors ?? []).map(inWords);
  }

  /** Of the paths that fit, the one with the method: the other methods of a word are those of a thing of that name. */
  #operationOf(method: string, url: string): { pointer: string; value: Operation } | undefined {
    const asked = method === "HEAD" ? "get" : method.toLowerCase();
    const found = this.#pathsOf(url).find((path) => this.#document.paths[path]?.[asked] !== undefined);
    const value = found === undefined ? undefined : this.#document.paths[found]?.[asked];
    return value && { pointer: `/paths/${token(found ?? "")}/${asked}`, value };
  }

  #pathsOf(url: string): string[] {
    const path = pathOf(url);
    return this.#templates.filter(({ pattern }) => pattern.test(path)).map((template) => template.path);
  }

  #outside({ method, url, status, headers, text }: SeenAnswer): string[] {
    if (status === 204 && method === "OPTIONS") return headers.has("allow") ? [] : ["has no Allow"];
    const isPage = this.#pathsOf(url).length === 0 && (!pathOf(url).startsWith("/api/") || pathOf(url) === "/api/docs");
    if (isPage && status < 400) return [];
    if (method === "HEAD") return text === "" ? [] : ["has a body"];
    const { code } = (parsed(text) ?? {}) as { code?: string };
    if (!CODES_OUTSIDE.includes(code ?? "")) return [`is no operation of the document, and its code is ${code}`];
    if (status === 405 && !headers.has("allow")) return ["has no Allow"];
    return this.flawsAt("/components/schemas/Problem", parsed(text));
  }

  #answered({ pointer, value }: { pointer: string; value: Operation }, answer: SeenAnswer): string[] {
    const { status, headers, text, method } = answer;
    const described = value.responses[status];
    if (described === undefined)
      return [`the document knows only ${Object.keys(value.responses).join(", ")}: ${text.slice(0, 300)}`];
    const at = `${pointer}/responses/${status}`;
    const flaws = this.#headerFlaws(at, described, headers);
    if (method === "HEAD") return text === "" ? flaws : [...flaws, "has a body"];
    if (described.content === undefined) return text === "" ? flaws : [...flaws, `has a body: ${text.slice(0, 300)}`];
    const type = (headers.get("content-type") ?? "").replace(/;.*/, "");
    const media = described.content[type];
    if (media === undefined)
      return [...flaws, `has the media type "${type}", not ${Object.keys(described.content).join(", ")}`];
    if (type === STREAM) return flaws; // flawsOfEvent
    const body = type.endsWith("json") ? parsed(text) : text;
    return [...flaws, ...codeFlaws(type, media, body), ...this.flawsAt(`${at}/content/${token(type)}/schema`, body)];
  }

  #headerFlaws(at: string, { headers: described = {} }: Described, headers: Headers): string[] {
    return Object.entries(described).flatMap(([name, { $ref }]) => {
      const text = headers.get(name);
      if (text === null) return [`has no ${name}`];
      const schema = `${$ref?.slice(1) ?? `${at}/headers/${name}`}/schema`;
      const flaws = this.flawsAt(schema, text);
      // A number is a text on the wire.
      return flaws.length === 0 || this.flawsAt(schema, Number(text)).length === 0
        ? []
        : [`has ${name}: ${text}: ${flaws.join()}`];
    });
  }
}

/** A problem is one of those that the call's description names. */
function codeFlaws(type: string, { examples = {} }: Media, body: unknown): string[] {
  const { code } = (body ?? {}) as { code?: string };
  if (type !== "application/problem+json" || Object.hasOwn(examples, String(code))) return [];
  return [`has the code ${code}, the document only ${Object.keys(examples).join(", ")}`];
}

const inWords = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath || "the whole body"} ${message} ${JSON.stringify(params)}`;

/** Of managers in tests that have one: below it all is as the document says. */
export const TEST_BASE_PATH = "/unacked";

/** As it was sent, below the base path if it is: a path that cannot be read is one, too. */
function pathOf(url: string): string {
  const path = url.replace(/^https?:\/\/[^/]*/, "").replace(/[?#].*$/s, "");
  return path.startsWith(`${TEST_BASE_PATH}/`) ? path.slice(TEST_BASE_PATH.length) : path;
}

/** A key as a part of a JSON pointer in a URI's fragment (RFC 6901, section 6). */
export const token = (key: string): string => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON: no schema takes it
  }
}
