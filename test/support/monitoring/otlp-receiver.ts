import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as it arrived. */
export interface ReceivedSpan {
  program: string;
  instanceId: string;
  name: string;
  kind: "server" | "producer" | "consumer" | "other";
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  links: { traceId: string; spanId: string }[];
  attributes: Record<string, unknown>;
  failed: boolean;
}

/** What a collector does, as far as a test needs it: takes OTLP over HTTP, as JSON, and keeps every span. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** Everything that arrived, as it was. */
  readonly bodies: Buffer[];
  readonly contentTypes: Set<string>;
  close(): Promise<void>;
}

/** @param listenOn 0: any free port */
export async function otlpReceiver(listenOn = 0): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const contentTypes = new Set<string>();
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      bodies.push(body);
      const type = request.headers["content-type"] ?? "";
      contentTypes.add(type);
      if (type === "application/json") spans.push(...spansIn(JSON.parse(body.toString()) as Export));
      response.writeHead(200, { "content-type": type }).end(type === "application/json" ? "{}" : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(listenOn, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, spans, bodies, contentTypes, close };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The part of https://github.com/open-telemetry/opentelemetry-proto that is read here. */
interface Export {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
}
interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface Span {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Attribute[];
  links?: { traceId: string; spanId: string }[];
  status: { code?: number };
}

const KINDS = { 2: "server", 4: "producer", 5: "consumer" } as const;

function spansIn({ resourceSpans }: Export): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const about = valuesOf(resource.attributes);
    const from = { program: String(about["service.name"]), instanceId: String(about["service.instance.id"]) };
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...from, ...received(span) })));
  });
}

const received = ({ name, kind, traceId, spanId, parentSpanId, attributes, links = [], status }: Span) => ({
  name,
  traceId,
  spanId,
  parentSpanId: parentSpanId || undefined,
  kind: KINDS[kind as keyof typeof KINDS] ?? ("other" as const),
  links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
  attributes: valuesOf(attributes),
  failed: status.code === 2,
});

const valuesOf = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
