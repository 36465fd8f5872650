import { request } from "node:http";
import { watchAnswer } from "./watched-answers.ts";

export interface RawRequest {
  method?: string;
  path: string;
  headers?: Record<string, string | number>;
  body?: string | Uint8Array;
}

export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** What fetch() would not send: a path that it would tidy up, a Host header. The answer is held to the OpenAPI document as any other. */
export function sendRaw(url: string, { method = "GET", path, headers = {}, body = "" }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const answer = {
          status: response.statusCode ?? 0,
          headers: new Headers(response.headers as Record<string, string>),
          text: Buffer.concat(chunks).toString("utf8"),
        };
        watchAnswer({ method, url: path, ...answer });
        resolve(answer);
      });
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
