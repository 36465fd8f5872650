import { parseCommandLine, usage } from "./command-line.ts";
import { startExchange } from "./exchange-server.ts";
import { readRecording } from "./recording-file.ts";

/** Starts the exchange from the command line, says where it listens in one line of JSON, and goes on until SIGTERM. */
async function main(): Promise<void> {
  const commandLine = parseCommandLine(process.argv.slice(2));
  switch (commandLine.kind) {
    case "help":
      process.stdout.write(usage);
      return;
    case "wrong":
      process.stderr.write(`exchange: ${commandLine.message}\n\n${usage}`);
      process.exitCode = 2;
      return;
    case "run":
      break;
    default:
      commandLine satisfies never;
      return;
  }
  const { recordingFile, ...options } = commandLine;
  const recording = recordingFile === undefined ? [] : await readRecording(recordingFile);
  const exchange = await startExchange({ ...options, recording });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void exchange.close().then(() => process.exit(0)));
  }
  process.stdout.write(`${JSON.stringify({ event: "listening", url: exchange.url })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`exchange: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
