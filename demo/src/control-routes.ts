import type { IncomingMessage, ServerResponse } from "node:http";

export type ExchangeControl = { state(): unknown; startReplay(speed?: number): void; fallSilent(): void };

/**
 * The exchange's own HTTP side, for people and tests.
 *
 * - `GET /state`: products, connections, replay and what was sent to whom
 * - `POST /replay?speed=N`: restarts the replay; 204, or 409 without a recording, 400 for a bad speed
 * - `POST /silence`: whoever is connected now gets no tick any more, and no close either; 204
 */
export function answerControl(request: IncomingMessage, response: ServerResponse, control: ExchangeControl): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://exchange");
  request.resume();
  switch (`${request.method} ${pathname}`) {
    case "GET /state":
      return answer(response, 200, control.state());
    case "POST /replay": {
      const speed = searchParams.has("speed") ? Number(searchParams.get("speed")) : undefined;
      if (speed !== undefined && !(speed > 0 && Number.isFinite(speed))) {
        return answer(response, 400, { message: "speed is a number above 0" });
      }
      try {
        control.startReplay(speed);
      } catch (error) {
        return answer(response, 409, { message: error instanceof Error ? error.message : String(error) });
      }
      return answer(response, 204);
    }
    case "POST /silence":
      control.fallSilent();
      return answer(response, 204);
    default:
      return answer(response, 404, {
        message: "there are GET /state, POST /replay and POST /silence, the rest is WebSocket",
      });
  }
}

function answer(response: ServerResponse, status: number, body?: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
