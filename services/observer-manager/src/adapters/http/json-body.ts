import { MAX_REQUEST_BODY_BYTES } from "@unacked/contracts";
import express, { type RequestHandler } from "express";
import { HttpProblem } from "./http-problem.ts";

/** Reads a JSON body into `request.body`: any JSON value, as what it must be is for the schema to say. */
export function jsonBody(): RequestHandler[] {
  return [
    requireJson,
    express.json({ limit: MAX_REQUEST_BODY_BYTES, type: "application/json", strict: false, inflate: false }),
  ];
}

/** Without a body there is no type to be wrong: that is answered later, as an empty body. */
const requireJson: RequestHandler = (request, _response, next) => {
  if (request.is("application/json") === false) throw new HttpProblem({ code: "unsupported-media-type" });
  next();
};
