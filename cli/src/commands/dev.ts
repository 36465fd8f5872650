import type { Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";

interface DevCommandOptions {
  port: string;
  fresh?: boolean;
  only?: string[];
}

export function addDev(program: Command): void {
  program
    .command("dev")
    .summary("run everything on your machine, on a folder of observers")
    .description(
      "Start a private RabbitMQ and PostgreSQL, a manager with its page, and a service on your folder of observers, and show what they log. When you save a file it is loaded, and running observers go over to the new code. If it has an error, the error is shown and the old code stays. Keys: r restarts the service, o opens the page, q ends everything.",
    )
    .argument("[folder]", "the folder of your observers; default: ./observers, or ./src/observers")
    .option("--port <port>", "the port of the page and the REST interface; 0: any free one", "8080")
    .option("--fresh", "start with empty data")
    .option("--only <source...>", "show only the lines of these: manager, service, or names of types")
    .action(async (folder: string | undefined, options: DevCommandOptions) => {
      const { dev, DevError } = await import("../../dev/dev.mjs");
      try {
        await dev({
          dir: folder,
          port: portOf(options.port),
          fresh: options.fresh === true,
          only: (options.only ?? []).flatMap((source) => source.split(",")),
        });
      } catch (error) {
        if (!(error instanceof DevError)) throw error;
        const [message = "", ...details] = error.message.split("\n");
        throw new CliFailure("failed", message, { code: "dev", details });
      }
    });
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw usageFailure(`--port takes a whole number from 0 to 65535, not "${text}"`);
}
