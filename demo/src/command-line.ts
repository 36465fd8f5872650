import { parseArgs } from "node:util";

export type CommandLine =
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly message: string }
  | {
      readonly kind: "run";
      readonly port: number;
      readonly recordingFile: string | undefined;
      readonly speed: number;
      readonly seed: number;
      readonly waitForSubscriptions: number | "manual";
    };

export const usage = `A small exchange on 127.0.0.1 that speaks Coinbase's WebSocket ticker protocol.

  --port N                    port to listen on, 0 for any free one (default 0)
  --recording FILE            also replay the ticker messages of this recording (plain or .gz)
  --speed X                   replay so many times faster than recorded (default 1)
  --wait-for-subscriptions N  begin the replay once N distinct products of it are subscribed (default 0: at once;
                              "manual": only by POST /replay)
  --seed N                    the random walk's seed (default 1)
  --help                      this text

The same port answers GET /state and POST /replay?speed=X. SIGTERM and Ctrl-C end it.
`;

/** Reads the command line (without node and script). Pure. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  let values: Record<string, string | boolean | undefined>;
  try {
    values = parseArgs({
      args: [...args],
      options: {
        port: { type: "string" },
        recording: { type: "string" },
        speed: { type: "string" },
        seed: { type: "string" },
        "wait-for-subscriptions": { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return { kind: "wrong", message: error instanceof Error ? error.message : String(error) };
  }
  if (values.help === true) return { kind: "help" };

  const port = Number(values.port ?? 0);
  const speed = Number(values.speed ?? 1);
  const seed = Number(values.seed ?? 1);
  const wait = values["wait-for-subscriptions"] ?? "0";
  const waitForSubscriptions = wait === "manual" ? wait : Number(wait);
  const wrong = (message: string): CommandLine => ({ kind: "wrong", message });
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return wrong("--port is a whole number from 0 to 65535");
  if (!Number.isFinite(speed) || speed <= 0) return wrong("--speed is a number above 0");
  if (!Number.isInteger(seed)) return wrong("--seed is a whole number");
  if (waitForSubscriptions !== "manual" && !(Number.isInteger(waitForSubscriptions) && waitForSubscriptions >= 0)) {
    return wrong('--wait-for-subscriptions is a whole number from 0, or "manual"');
  }
  const recordingFile = typeof values.recording === "string" ? values.recording : undefined;
  return { kind: "run", port, recordingFile, speed, seed, waitForSubscriptions };
}
