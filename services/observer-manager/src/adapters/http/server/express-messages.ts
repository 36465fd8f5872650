import { IncomingMessage, type ServerOptions, ServerResponse } from "node:http";
import type { Express } from "express";

/**
 * The classes of which a server makes what it hands to this app: they have the prototypes from the start that express would else give
 * to each request and each response. An object whose prototype was changed shares its hidden class with no other in V8, so that no
 * inline cache knows it, and each field that express, Node and we read of it or write to it is looked up at length: a quarter
 * of the manager's CPU for a POST (docs/performance-budget.md).
 */
export function messagesOf(app: Express): Required<Pick<ServerOptions, "IncomingMessage" | "ServerResponse">> {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Of extends IncomingMessage> extends ServerResponse<Of> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as Express["request"];
  app.response = AppResponse.prototype as Express["response"];
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
