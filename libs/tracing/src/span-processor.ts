import { AsyncResource } from "node:async_hooks";
import type { Context } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { ExportWatch } from "./export-watch.ts";
import type { TracingWish } from "./tracing-wish.ts";

/** Shorter than the SDK's own default of 10 s. */
const EXPORT_TIMEOUT_MS = 5_000;
const TIMEOUT_VARIABLES = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];

/**
 * Ended spans wait in a bounded queue (OTEL_BSP_MAX_QUEUE_SIZE, 2048) and go in batches. When it is full, spans are lost.
 */
export async function spanProcessor(
  protocol: Extract<TracingWish, { kind: "on" }>["protocol"],
  watch: ExportWatch,
): Promise<SpanProcessor> {
  const config = TIMEOUT_VARIABLES.some((name) => process.env[name]) ? {} : { timeoutMillis: EXPORT_TIMEOUT_MS };
  const exporter = await exporterOf(protocol, config);
  return new DetachedProcessor(new BatchSpanProcessor(new WatchedExporter(exporter, watch)));
}

async function exporterOf(protocol: "http/protobuf" | "http/json", config: { timeoutMillis?: number }) {
  if (protocol === "http/json") {
    const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
    return new OTLPTraceExporter(config);
  }
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter(config);
}

/** Tells the watch how each batch went. The SDK is told that all went well, or it would write a line for each. */
class WatchedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #watch: ExportWatch;

  constructor(exporter: SpanExporter, watch: ExportWatch) {
    this.#exporter = exporter;
    this.#watch = watch;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, ({ code, error }) => {
      if (code === ExportResultCode.SUCCESS) this.#watch.arrived();
      else this.#watch.failed(spans.length, error);
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

/**
 * Exports outside the context that ended the span: timers and sockets of the export must not belong to the observer that
 * happened to end one, or a failing collector would look like its own failure.
 */
class DetachedProcessor implements SpanProcessor {
  readonly #processor: SpanProcessor;
  readonly #outside = new AsyncResource("unacked-tracing");

  constructor(processor: SpanProcessor) {
    this.#processor = processor;
  }

  onStart(span: Span, parent: Context): void {
    this.#processor.onStart(span, parent);
  }

  onEnd(span: ReadableSpan): void {
    this.#outside.runInAsyncScope(() => this.#processor.onEnd(span));
  }

  forceFlush(): Promise<void> {
    return this.#outside.runInAsyncScope(() => this.#processor.forceFlush());
  }

  shutdown(): Promise<void> {
    return this.#outside.runInAsyncScope(() => this.#processor.shutdown());
  }
}
