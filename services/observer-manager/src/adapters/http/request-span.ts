import type { Span, TraceIds } from "@unacked/tracing";
import type { Response } from "express";

/** Of the request that is answered; undefined where it is not traced. */
export const spanOf = (response: Response): Span | undefined => response.locals["span"] as Span | undefined;

export const setSpan = (response: Response, span: Span): void => void (response.locals["span"] = span);

/** For the lines of its log. */
export const traceIdsOf = (response: Response): TraceIds | undefined => spanOf(response)?.ids;
