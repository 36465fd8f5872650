import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MESSAGES } from "@unacked/contracts";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
import { ROOT } from "../processes/processes.ts";

export type Decoder = keyof typeof MESSAGES;

export type JsonSchema = Record<string, unknown>;
export type Schemas = Record<Decoder, JsonSchema>;

const FOLDER = join(ROOT, "test/fixtures/messages");

/** Every version whose messages are kept, oldest first; the last is the present one. */
export const goldenVersions: string[] = readdirSync(FOLDER).toSorted((a, b) =>
  a.localeCompare(b, undefined, { numeric: true }),
);

export const presentVersion = `v${(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }).version}`;

export interface GoldenMessage {
  file: string;
  decoder: Decoder;
  /** Of a batch: those of its events. */
  kinds: string[];
  body: Record<string, unknown>;
}

/** As they were sent by that version. */
export function goldenMessages(version: string): GoldenMessage[] {
  const files = readdirSync(join(FOLDER, version)).filter((file) => file !== "schemas.json");
  return files.map((file) => {
    const body = JSON.parse(readFileSync(join(FOLDER, version, file), "utf8")) as Record<string, unknown>;
    return { file: `${version}/${file}`, body, ...classified(body) };
  });
}

/** By which decoder a body is read, and which kinds are in it. */
export function classified(body: Record<string, unknown>): { decoder: Decoder; kinds: string[] } {
  const { kind, events } = body as { kind?: string; events?: { kind: string }[] };
  if (kind === undefined && "taskId" in body) return { decoder: "StartTask", kinds: ["StartTask"] };
  if (kind === "TaskBundle") return { decoder: kind, kinds: [kind, "StartTask"] };
  if (kind === "TaskMarker") return { decoder: kind, kinds: [kind] };
  if (kind === "TaskEventBatch") return { decoder: kind, kinds: [kind, ...(events ?? []).map((event) => event.kind)] };
  if (kind === undefined && "fencingToken" in body) return { decoder: "ReportedStart", kinds: ["StartObserver"] };
  if (kind === undefined) return { decoder: "StartObserver", kinds: ["StartObserver"] };
  if (kind === "ErrorReport" || kind === "LogReply" || kind === "QueueMarker") return { decoder: kind, kinds: [kind] };
  if (events !== undefined) return { decoder: "StateMessage", kinds: ["EventBatch", ...events.map((event) => event.kind)] };
  return {
    decoder: kind === "DeathCertificate" || kind === "StateMarker" ? "StateMessage" : "ControlMessage",
    kinds: [kind],
  };
}

/** What that version takes, as it was written down when it was made. */
export const goldenSchemas = (version: string): Schemas =>
  JSON.parse(readFileSync(join(FOLDER, version, "schemas.json"), "utf8")) as Schemas;

/** What the code takes now, in the same form. */
export const presentSchemas = (): Schemas =>
  Object.fromEntries(Object.entries(MESSAGES).map(([name, schema]) => [name, asJsonSchema(schema)])) as Schemas;

const asJsonSchema = (schema: z.ZodType): JsonSchema =>
  JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: "input" }))) as JsonSchema;

/** Every kind that a version knows. */
export function kindsIn(schemas: Schemas): Set<string> {
  const kinds = new Set(["StartObserver", ...("StartTask" in schemas ? ["StartTask"] : [])]);
  const look = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { kind } = ((node as { properties?: object }).properties ?? {}) as { kind?: { const?: string } };
    if (kind?.const !== undefined) kinds.add(kind.const);
    for (const child of Object.values(node)) look(child);
  };
  look(schemas);
  return kinds;
}

/** Whether that version takes a body: its complaints, none if it does. */
export function complaintsOf(version: string): (decoder: Decoder, body: unknown) => string[] {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
  const schemas = goldenSchemas(version);
  const validators = new Map(Object.entries(schemas).map(([name, schema]) => [name, ajv.compile(withoutId(schema))]));
  return (decoder, body) => {
    const validate = validators.get(decoder);
    if (validate === undefined || validate(body)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${version} ${decoder} ${instancePath}: ${message}`);
  };
}

const withoutId = ({ $schema: _schema, ...rest }: JsonSchema): JsonSchema => rest;
