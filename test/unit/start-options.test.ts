import { describe, expect, test } from "vitest";
import { OptionError, parseStartOptions } from "../../scripts/start/options.mjs";

describe("npm start's options", () => {
  test("nothing said means two services of ten workers on port 8080, with the demonstration", () => {
    expect(parseStartOptions([])).toEqual({
      services: 2,
      workers: 10,
      port: 8080,
      demo: true,
      fresh: false,
      recording: null,
      observers: "observers",
    });
  });

  test("every option is taken, with an equals sign or without", () => {
    const args = ["--services", "3", "--workers=20", "--port", "0", "--no-demo", "--fresh", "--recording", "ticks.jsonl"];
    args.push("--observers", "my-observers");
    expect(parseStartOptions(args)).toEqual({
      services: 3,
      workers: 20,
      port: 0,
      demo: false,
      fresh: true,
      recording: "ticks.jsonl",
      observers: "my-observers",
    });
  });

  test("--help wins over everything beside it", () => {
    expect(parseStartOptions(["--services", "x", "--help"])).toBe("help");
  });

  test.each([
    [["--observer", "3"], "--observer"],
    [["--services"], "--services"],
    [["--services", "two"], '"two"'],
    [["--services", "-1"], "--services"],
    [["--services", "101"], "from 0 to 100"],
    [["--workers", "0"], "from 1 to 65535"],
    [["--workers", "1.5"], '"1.5"'],
    [["--port", "65536"], "from 0 to 65535"],
    [["--port", ""], '""'],
    [["--no-demo=yes"], "--no-demo"],
    [["8081"], "8081"],
  ])("%j is refused in one line that names it and the help", (args, named) => {
    const refusal = refusalOf(args);
    expect(refusal).toContain(named);
    expect(refusal).toContain("npm start -- --help");
    expect(refusal).not.toContain("\n");
  });
});

function refusalOf(args: string[]): string {
  try {
    parseStartOptions(args);
  } catch (error) {
    expect(error).toBeInstanceOf(OptionError);
    return (error as Error).message;
  }
  throw new Error(`${JSON.stringify(args)} was accepted`);
}
