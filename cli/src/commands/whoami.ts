import type { SessionView } from "@unacked/contracts";
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { printOne } from "../output/list-printer.ts";
import type { Listing } from "../output/listing.ts";
import { openSession, type Session } from "../session.ts";
import { type OutputOptions, outputOption } from "./option-sets.ts";

const LISTING: Listing<SessionView> = {
  nameOf: ({ name }) => name,
  columns: [
    { heading: "NAME", cell: ({ name }) => name },
    { heading: "ROLE", cell: ({ role }) => role },
    { heading: "BY", cell: ({ authentication }) => authentication },
    { heading: "EXPIRES", cell: ({ expiresAt }) => expiresAt ?? "" },
  ],
};

export function addWhoami(program: Command, io: Io): void {
  program
    .command("whoami")
    .summary("show who you are for the manager, and your role")
    .description("Show who you are for the manager, and your role. With -o json also which role each call needs.")
    .addOption(outputOption())
    .action((options: OutputOptions, self: Command) => tell(openSession(io, self), options));
}

async function tell({ api, io, print }: Session, { output }: OutputOptions): Promise<void> {
  io.out(printOne(LISTING, await api.call("getSession", {}), print(output)));
}
