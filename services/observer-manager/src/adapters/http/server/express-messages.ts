import { IncomingMessage, type ServerOptions, ServerResponse } from "node:http";
import type { Express } from "express";

/**
 * Classes from which a server makes the messages for this app. They have from the start the prototypes that express would otherwise
 * give to each request and response. In V8 an object whose prototype was changed shares its hidden class with no other, so that no
 * inline cache knows it, and each field that express, Node and we read or write is looked up at length: a quarter of the manager's
 * CPU for a POST (docs/performance-budget.md).
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
