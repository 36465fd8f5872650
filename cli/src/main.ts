import { processIo } from "./io.ts";
import { run } from "./program.ts";

// Not process.exit, as output to a pipe has to be flushed first.
process.exitCode = await run(process.argv.slice(2), processIo());
