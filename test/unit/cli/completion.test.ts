import { describe, expect, it } from "vitest";
import { findCandidates } from "../../../cli/src/completion/candidates.ts";
import { COMPLETION_RULES } from "../../../cli/src/completion/rules.ts";
import { buildProgram } from "../../../cli/src/program.ts";
import { QUIET_IO } from "./quiet-io.ts";

/** What may stand at the end of the line; a space at its end begins a new word. */
const at = (line: string) => findCandidates(buildProgram(QUIET_IO), line.split(" "), COMPLETION_RULES);

describe("completion", () => {
  it("offers the commands, and those below a command", () => {
    expect(at("").words).toEqual(expect.arrayContaining(["get", "create", "apply", "stop", "config", "help"]));
    expect(at("").words).not.toContain("__complete");
    expect(at("config ").words).toContain("use-context");
  });

  it("offers kinds first, and then the names of that kind", () => {
    expect(at("get ").words).toContain("services");
    expect([at("get svc ").names, at("get obs a ").names, at("get runs ").names, at("get types ").names]).toEqual([
      "services",
      "observers",
      "observers",
      "types",
    ]);
  });

  it("offers names where names stand, whatever options came before", () => {
    expect(at("stop ").names).toBe("observers");
    expect(at("--context live stop --filter type=x --force a ").names).toBe("observers");
    expect(at("describe service ").names).toBe("services");
    for (const one of ["edit", "timeline", "logs"])
      expect([at(`${one} `).names, at(`${one} a `).names]).toEqual(["observers", undefined]);
    expect([at("create ").names, at("create ticker ").names]).toEqual(["types", undefined]);
    expect(at("create ticker a --param every")).toMatchObject({ names: "params", operands: ["ticker", "a"] });
    expect([at("ls ").words, at("list svc ").names]).toEqual([at("get ").words, "services"]);
    expect([at("config use-context ").names, at("config use-context a ").names]).toEqual(["contexts", undefined]);
  });

  it("offers the options of the command and those of all, and the values of an option", () => {
    expect(at("stop --").words).toEqual(expect.arrayContaining(["--filter", "--force", "--url", "--help"]));
    expect(at("stop --").words).not.toContain("--param");
    expect(at("get obs -o ").words).toContain("wide");
    expect(at("stop -o ").words).toContain("lines");
    expect(at("wait a --for ").words).toContain("Processing");
    expect(at("stop --filter ").words).toContain("status=");
    expect(at("apply -f ").names).toBe("files");
    expect(at("get obs --context ").names).toBe("contexts");
  });

  it("offers the filters of what is chosen from", () => {
    const filters = (line: string) => at(`${line} --filter `).words;
    expect(filters("get tasks")).toEqual(["status=", "type=", "service=", "pool=", "q="]);
    expect([filters("ls error"), filters("list audit")[0]]).toEqual([["reason=", "group=", "observer="], "actor="]);
    expect(filters("get task-failures")).toEqual(["type=", "pool="]);
    expect(filters("cancel")).toEqual(["status=", "type=", "pool="]);
    expect(filters("rerun")).toEqual(["status=", "type=", "pool=", "errorGroup="]);
    for (const line of ["get obs", "ls", "watch", "work begin pause"]) expect(filters(line)).toContain("errorGroup=");
    expect(filters("get services")).toEqual([]);
  });

  it("asks the manager that the line names", () => {
    expect(at("--url http://x stop --context=live ").given).toMatchObject({ url: "http://x", context: "live" });
  });
});
