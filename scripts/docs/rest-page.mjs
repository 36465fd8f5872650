/**
 * @typedef {{ name: string, in: string, required?: boolean, description?: string, schema: { default?: unknown } }} Parameter
 * @typedef {{ description: string, $ref?: string }} Answer
 * @typedef {{ $ref?: string, properties?: Record<string, { description?: string, default?: unknown }>, required?: string[] }} Schema
 * @typedef {{ $ref: string }} Ref
 * @typedef {{ summary: string, description?: string, tags: string[], parameters?: Parameter[], requestBody?: Ref, responses: Record<string, Answer> }} Call
 * @typedef {{ requestBodies: Record<string, { content: Record<string, { schema: Schema }> }> }} Components
 * @typedef {{ tags: { name: string, description: string }[], paths: Record<string, Record<string, Call>>, components: Components }} Document
 */

const METHODS = ["get", "post", "put", "patch", "delete"];

/**
 * Every call with its parameters and answers, from the OpenAPI document.
 *
 * @param {Document} document
 * @param {readonly string[]} ofAnyCall codes of problems that are not worth saying at each
 */
export function restPage({ tags, paths, components }, ofAnyCall) {
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => (methods[method] === undefined ? [] : [{ method, path, call: methods[method] }])),
  );
  const chapters = tags.map(
    ({ name, description }) => `## ${name}

${description}

${calls
  .filter(({ call }) => call.tags.includes(name))
  .map((one) => chapter(one, components, ofAnyCall))
  .join("\n\n")}`,
  );
  return `# REST

JSON in and out. \`{ref}\` is an observer's name or id. A running manager describes the same, with examples and schemas, at
\`/api/docs\` (for people, to try out) and \`/api/openapi.json\` (OpenAPI 3.1). Every failure is a problem document (RFC 9457) with a
stable \`code\`; what any call can answer is left out here: [problems](problems.md). A row of a list that somebody has changed in the database so
that it cannot be shown is left out of it: \`Unacked-Left-Out\`, in the header, says how many, and the manager's log which ones and why.
Of what became of each of many (\`results\`) none is left out: in its place is the problem \`internal-error\`.
A call that changes something and does not list \`If-Match\` refuses it (400 \`malformed-request\`), as any does \`If-None-Match\` and \`If-Unmodified-Since\`: nobody would look at them.

**Who may come in:** a manager listens on 127.0.0.1 and asks nobody who they are. On any other address it wants to know its
callers, and does not start until it does: bearer tokens, or JWTs of an identity provider, with the roles taker, viewer, operator and
admin. A token is sent as \`Authorization: Bearer …\`; without one the answer is 401, beyond one's role 403
([security](security.md)).

${chapters.join("\n\n")}
`;
}

/**
 * @param {{ method: string, path: string, call: Call }} one
 * @param {Components} components
 * @param {readonly string[]} ofAnyCall
 */
function chapter({ method, path, call }, components, ofAnyCall) {
  const parameters = (call.parameters ?? []).filter(({ name }) => !path.includes(`{${name}}`));
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    `${call.summary}. ${call.description ?? ""}`.trim(),
    ...(parameters.length === 0 ? [] : [parameters.map(parameterLine).join("\n")]),
    ...bodyOf(call, components),
    answers(call.responses, ofAnyCall),
  ].join("\n\n");
}

/** @param {Parameter} parameter */
function parameterLine({ name, in: place, required = false, description = "", schema }) {
  const fallback = schema.default === undefined ? "" : ` (\`${shown(schema.default)}\`)`;
  const where = place === "query" ? "" : `, in the ${place}`;
  const meaning = [description, required ? "required" : ""].filter((text) => text !== "").join("; ");
  return `- \`${name}\`${fallback}${where}${meaning === "" ? "" : `: ${meaning}`}`;
}

/** @param {Call} call @param {Components} components @returns {string[]} */
function bodyOf({ requestBody }, { requestBodies }) {
  const named = requestBody?.$ref.split("/").at(-1);
  const { properties = {}, required = [] } = requestBodies[named ?? ""]?.content["application/json"]?.schema ?? {};
  const lines = Object.entries(properties).map(([name, property]) =>
    parameterLine({ name, in: "query", required: required.includes(name), schema: property, ...property }),
  );
  return lines.length === 0 ? [] : [`In the body:\n\n${lines.join("\n")}`];
}

/** Of failures the codes that are this call's own. @param {Record<string, Answer>} responses @param {readonly string[]} ofAnyCall */
function answers(responses, ofAnyCall) {
  const rows = Object.entries(responses).flatMap(([status, { description }]) => {
    if (description === undefined) return [];
    if (Number(status) < 400) return [`| ${status} | ${inShort(description)} |`];
    const codes = codesIn(description);
    if (codes.length === 0) return [`| ${status} | ${inShort(description)} |`];
    const own = codes.filter((code) => !ofAnyCall.includes(code));
    return own.length === 0 ? [] : [`| ${status} | ${own.map((code) => `\`${code}\``).join(", ")} |`];
  });
  return ["| status | answer |", "| --- | --- |", ...rows].join("\n");
}

/** Without what problems.md says of each code. @param {string} description */
function inShort(description) {
  const codes = codesIn(description);
  const first = (description.split("\n\n")[0] ?? "").replaceAll("\n", " ").replace(/\.$/, "");
  const each = codes.length === 0 ? "" : `. Each by itself: ${codes.map((code) => `\`${code}\``).join(", ")}`;
  return `${first}${each}`;
}

/** @param {string} description */
const codesIn = (description) => [...description.matchAll(/^- `([a-z-]+)`/gm)].map(([, code = ""]) => code);

/** @param {unknown} value */
const shown = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
