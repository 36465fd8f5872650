import { describe, expect, test } from "vitest";
import { greeting } from "../../scripts/start/greeting.mjs";
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
      observers: null,
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

  test("a folder of one's own comes in place of the shipped types, and without the demonstration, which is of one of those", () => {
    expect(parseStartOptions(["--observers", "mine"])).toMatchObject({ observers: "mine", demo: false });
    const running = {
      managerUrl: "http://127.0.0.1:8080",
      brokerPage: null,
      hasTasks: false,
      services: [],
      logDir: "logs",
      dataDir: "data",
    };
    const own = greeting({ ...running, observers: "/somewhere/mine" });
    expect(own).toContain("Its observer types are those of /somewhere/mine");
    expect(own).not.toContain("ticker");
    expect(own).not.toContain("demo-words");
    expect(greeting({ ...running, observers: null })).toContain('"type":"ticker"');
    expect(greeting({ ...running, observers: null, hasTasks: true })).toContain("npx unacked run demo-words");
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
