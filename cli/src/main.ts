import { processIo } from "./io.ts";
import { run } from "./program.ts";

// Not process.exit: what was written to a pipe has to get out first.
process.exitCode = await run(process.argv.slice(2), processIo());
