import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from "@asteasolutions/zod-to-openapi";
import { COMMON_PROBLEMS, GATE_PROBLEMS, PROBLEMS, type Role } from "@unacked/contracts";
import { z } from "zod";
import { type AnswerDescription, type CallDescription, type Examples, TAGS } from "./call-description.ts";
import { problemExample } from "./examples/problem-examples.ts";
import { introduction } from "./introduction.ts";
import { pathParametersOf } from "./path-parameters.ts";
import { PLAIN_CALLS } from "./plain-calls.ts";
import { inWords, problemAnswers, REQUEST_ID_HEADER, RETRY_AFTER_HEADER } from "./problem-answers.ts";
import { nameRequestBodies } from "./request-bodies.ts";

/**
 * The OpenAPI 3.1 document, made from the very schemas that requests and answers go through.
 * @param basePath of the manager that serves it
 */
export function openApiDocument(routes: readonly CallDescription[], version: string, basePath = ""): object {
  const registry = new OpenAPIRegistry();
  const calls = [...routes.map(withCommonProblems), ...PLAIN_CALLS].map(withGate);
  for (const call of calls) registry.registerPath(toRouteConfig(call));
  for (const code of new Set(calls.flatMap(({ problems }) => problems)))
    registry.registerComponent("examples", code, { summary: PROBLEMS[code].title, value: problemExample(code) });
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) registry.registerComponent("securitySchemes", name, scheme);
  registry.registerComponent("headers", "RequestId", REQUEST_ID_HEADER);
  registry.registerComponent("headers", "RetryAfter", RETRY_AFTER_HEADER);
  const ofEvents = calls.flatMap(({ events = {} }) => Object.values(events));
  const schemas = ofEvents.map((schema) => ({ type: "schema", schema }) as const);
  const document = new OpenApiGeneratorV31([...registry.definitions, ...schemas]).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Unacked",
      version,
      description: introduction(),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
    servers: [{ url: basePath || "/", description: "the manager that serves this document" }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  });
  nameRequestBodies(document);
  return document;
}

const withCommonProblems = (route: CallDescription): CallDescription => ({
  ...route,
  problems: [...COMMON_PROBLEMS, ...route.problems],
});

const NEEDED: Readonly<Record<Role, string>> = {
  taker: "`taker`, `operator` or `admin`",
  viewer: "`viewer` or a higher one",
  operator: "`operator` or a higher one",
  admin: "`admin`",
};

/** Adds the role that a call needs, and the answers to callers who lack it. */
function withGate(call: CallDescription): CallDescription {
  if (call.access === "open") return call;
  const description = [call.description, `Needs the role ${NEEDED[call.access]}.`]
    .filter((text) => text !== undefined)
    .join("\n\n");
  return { ...call, description, problems: [...GATE_PROBLEMS, ...call.problems] };
}

/** Any of them is enough. */
const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "A token of AUTH_TOKENS, or a JWT of the configured issuer." },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "unacked-session",
    description:
      "The page's session, by POST /api/v1/session. Over TLS the cookie's name is `__Host-unacked-session`, " +
      "and `__Secure-unacked-session` where the manager has a BASE_PATH.",
  },
} as const;

function toRouteConfig(call: CallDescription): RouteConfig {
  const { method, path, operationId, summary, description, tag, query, headers } = call;
  const params = pathParametersOf(path);
  return {
    method,
    path,
    operationId,
    summary,
    tags: [tag],
    ...(description !== undefined && { description }),
    ...(call.access === "open" && { security: [] }),
    request: { ...(params && { params }), ...(query && { query }), ...(headers && { headers }), ...bodyOf(call) },
    responses: { ...answersOf(call), ...problemAnswers(call.problems) },
  };
}

function bodyOf({ body, bodyExamples }: CallDescription): Pick<NonNullable<RouteConfig["request"]>, "body"> {
  if (body === undefined) return {};
  return { body: { required: true, content: { "application/json": { schema: body, ...shown(bodyExamples) } } } };
}

function answersOf(call: CallDescription): RouteConfig["responses"] {
  return Object.fromEntries(Object.entries(call.answers).map(([status, one]) => [status, answerOf(call, status, one)]));
}

function answerOf(call: CallDescription, status: string, one: AnswerDescription) {
  const { itemProblems } = call;
  const { description, headers = {} } = one;
  const itsProblems = status === "200" && itemProblems ? `.\n\nOne of them can have:\n\n${inWords(itemProblems)}` : "";
  const own = Object.entries(headers).map(([name, { description, example }]) => [
    name,
    { description, required: true, schema: { type: "string" }, example },
  ]);
  return {
    description: `${description}${itsProblems}`,
    headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" }, ...Object.fromEntries(own) },
    ...(one.schema && { content: contentOf(call, status, one) }),
  };
}

function contentOf({ events, eventExamples }: CallDescription, status: string, one: AnswerDescription) {
  const { contentType = "application/json" } = one;
  const examples = { ...one.examples, ...one.receipts };
  const schema = one.schema && one.minimal ? z.union([one.schema, one.minimal]) : one.schema;
  if (events === undefined || status !== "200") return { [contentType]: { schema, ...shown(examples) } };
  if (contentType === EVENT_STREAM) return { [contentType]: { schema: streamOf(events), ...shown(examples) } };
  return {
    [contentType]: { schema, ...shown(examples) },
    [EVENT_STREAM]: { schema: streamOf(events), ...shown(eventExamples) },
  };
}

/** The key is made from the title: "As little as possible" → as-little-as-possible. */
function shown(examples: Examples = {}) {
  const all = Object.entries(examples).map(([title, value]) => [
    title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
    { summary: title, value },
  ]);
  return { examples: Object.fromEntries(all) };
}

const EVENT_STREAM = "text/event-stream";

/** OpenAPI 3.1 has no word for a stream's items. JSON Schema has one for the content of a text. */
const streamOf = (events: Readonly<Record<string, z.ZodType>>) => ({
  type: "string" as const,
  contentMediaType: EVENT_STREAM,
  contentSchema: {
    oneOf: Object.entries(events).map(([kind, schema]) => ({
      type: "object" as const,
      properties: { event: { const: kind }, data: { $ref: `#/components/schemas/${nameOf(schema)}` } },
      required: ["event", "data"],
    })),
  },
});

const nameOf = (schema: z.ZodType): string => {
  const name = schema.meta()?.id;
  if (name === undefined) throw new Error("an event's schema has no name of its own: give it .meta({ id })");
  return name;
};
