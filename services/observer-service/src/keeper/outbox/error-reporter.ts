import type { Delivery } from "@unacked/broker";
import { ERROR_KEY, type ErrorReport, EXCHANGES, newMessageId, reportBody, type ServiceId } from "@unacked/contracts";
import { sendableText } from "../../error-text.ts";
import { type PublishTools, publishUntilConfirmed } from "./publish-until-confirmed.ts";

export type ReportedTrouble = Pick<ErrorReport, "reason" | "detail" | "observerId" | "runId">;

const MAX_DETAIL = 16_384;

/** Puts messages that cannot be handled into `unacked.error`, with the reason. */
export class ErrorReporter {
  readonly #serviceId: ServiceId;
  readonly #tools: PublishTools;

  constructor(serviceId: ServiceId, tools: PublishTools) {
    this.#serviceId = serviceId;
    this.#tools = tools;
  }

  /** Resolves when the report is confirmed, however long that takes; rejects only when the signal aborts. */
  report(trouble: ReportedTrouble, message: Pick<Delivery, "body" | "queue">, signal: AbortSignal): Promise<void> {
    // An unknown observer's message is kept whole, as nobody else has it.
    const maxBytes = trouble.reason === "unknown-observer" ? message.body.length : undefined;
    const { body, bodyBytes } = reportBody(message.body, maxBytes);
    const report: ErrorReport = {
      kind: "ErrorReport",
      ...trouble,
      detail: sendableText(trouble.detail, MAX_DETAIL),
      queue: message.queue.slice(0, 255),
      reporter: this.#serviceId,
      body: body.replaceAll("\0", "\uFFFD"),
      bodyBytes,
    };
    const outgoing = {
      exchange: EXCHANGES.errors.name,
      routingKey: ERROR_KEY,
      type: "ErrorReport",
      messageId: newMessageId(),
      appId: this.#serviceId,
      body: report,
    };
    return publishUntilConfirmed(outgoing, this.#tools, signal);
  }
}
