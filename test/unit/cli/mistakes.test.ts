import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { EXIT_CODES } from "../../../cli/src/failure.ts";
import { findKind, KINDS } from "../../../cli/src/input/kinds.ts";
import type { Io } from "../../../cli/src/io.ts";
import { run } from "../../../cli/src/program.ts";
import { QUIET_IO } from "./quiet-io.ts";

const folder = mkdtempSync(join(tmpdir(), "unacked-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A command line in this process, words by spaces. Nobody listens at the address. */
async function runLine(line: string): Promise<{ code: number; out: string; err: string }> {
  const told = { out: "", err: "" };
  const io: Io = {
    ...QUIET_IO,
    out: (text) => void (told.out += text),
    err: (text) => void (told.err += text),
    env: { XDG_CONFIG_HOME: folder, UNACKED_URL: "http://127.0.0.1:9" },
  };
  return { code: await run(line.split(" "), io), ...told };
}

it.each([
  "nonsense",
  "get",
  "get pods",
  "get runs",
  "get failures some",
  "get obs -o xml",
  "get obs --limit 0",
  "get obs --groups",
  "get tasks --all",
  "get errors --groups --filter reason=unreadable",
  "get errors --groups --limit 5",
  "get svc -l a=b",
  "get obs a --filter status=Failed",
  "get obs a -l team=b",
  "get obs a b --sort newest",
  "get tasks 01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41 --filter status=Failed",
  "get errors 01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41 --groups",
  "get svc --filter pool=x",
  "get errors --filter status=Failed",
  "get task-failures --filter status=Failed",
  "get task-failures --limit 5",
  "stop",
  "stop a --all",
  "stop --filter statsu=Failed",
  "stop -l team",
  "restart",
  "restart a --filter type=x",
  "reload",
  "reload a --all",
  "reload a --pool default",
  "reload --all --pool default",
  "reload a --timeout soon",
  "retry",
  "delete services a",
  "describe",
  "describe service",
  "describe errors a",
  "describe flow a",
  "run resize --on-conflict return",
  "run resize --in 5s --start-at 2099-01-01T00:00:00Z",
  "run resize --in soon",
  "run resize --in 9999999d",
  "timer tea.ready --in 3s --id nope",
  "get obs ",
  "describe task ",
  "work show ",
  "work list --limit many",
  "work list --limit 0",
  "delete schedules a ",
  "priority 01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41 ",
  "priority 01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41 0x5",
  "timer tea.ready --in 99999999999h",
  "wait a --for=Failed --timeout 600h",
  "logs -f a --timeout 25d",
  "watch --timeout 1300h",
  "--request-timeout 1000h get obs",
  "get tasks --filter type=a --filter type=b",
  "cancel --filter type=a type=b",
  "get audit --filter since=2026-01-01T00:00:00Z since=2026-01-02T00:00:00Z",
  "wait a",
  "wait --for=Processing",
  "wait a --for=Sleeping",
  "wait a --for=Processing --timeout soon",
  "apply",
  "apply -f gone.yaml",
  "apply -f -",
  "apply -f - --prune",
  "apply -f - -l a=b",
  "create ticker",
  "create ticker x -f -",
  "create ticker x --param everyMs",
  "create ticker not/a/name",
  "config use-context gone",
  "config current-context",
  "config set-context new",
  "token create ci",
  "token create ci --role root",
  "token create a/b --role viewer",
  "token create ci --role viewer --type paint",
  "token create ci --role taker --type p*",
  "token create ci --role taker --pool a.b",
  "token create ci --role viewer --append /nowhere/tokens",
  "completion tcsh",
  "--context gone get obs",
  "--url ftp://x get obs",
  "--request-timeout never get obs",
])("unacked %s is mistyped: told in a line, and nothing is asked", async (line) => {
  const { code, out, err } = await runLine(line);
  expect({ code, out }).toEqual({ code: EXIT_CODES.usage, out: "" });
  expect(err).toMatch(/^error: /);
  expect(err).not.toContain("a bug in this program");
});

it("A token of several lines, as of all that token create prints, is refused, and not printed", async () => {
  for (const line of ["get obs --token token:\nsecret", "config set-context new --url http://x --token token:\nsecret"])
    expect(await runLine(line)).toEqual({
      code: EXIT_CODES.usage,
      out: "",
      err: "error: The token is not valid: it has a line break, or another character that no header may have. Give the token alone, without the line that goes with it.\n",
    });
});

it("An empty --token is refused, as a variable that is not set gives one", async () => {
  const told = { out: "", err: "" };
  const io: Io = { ...QUIET_IO, err: (text) => void (told.err += text), env: { XDG_CONFIG_HOME: folder } };
  expect(await run(["--token", "", "get", "obs"], io)).toBe(EXIT_CODES.usage);
  expect(told.err).toBe("error: --token is empty. Is a variable of the shell not set? Nothing was sent.\n");
});

it("create says of a schedule that apply sets it", async () => {
  const told = { out: "", err: "" };
  const document = 'schedule: nightly\ncron: "30 2 * * *"\ntask: { type: count }\n';
  const io: Io = {
    ...QUIET_IO,
    err: (text) => void (told.err += text),
    env: { XDG_CONFIG_HOME: folder },
    readInput: () => document,
  };
  expect(await run(["create", "-f", "-"], io)).toBe(EXIT_CODES.usage);
  expect(told.err).toBe(
    "error: standard input is a schedule. Schedules are set with apply: unacked apply -f FILE. Nothing was sent.\n",
  );
});

it.each(["help flow create", "help config set-context", "help stop"])("%s shows that command's own help", async (line) => {
  const { code, out } = await runLine(line);
  expect(code).toBe(EXIT_CODES.ok);
  expect(out).toContain(`Usage: unacked ${line.replace("help ", "")} [options]`);
});

it.each(["help nonsense create", "help flow nonsense"])("%s is no command", async (line) => {
  const { code, err } = await runLine(line);
  expect([code, err]).toEqual([EXIT_CODES.usage, expect.stringMatching(/^error: unknown command 'nonsense/)]);
});

it("describe names what is missing", async () => {
  expect((await runLine("describe")).err).toContain("missing required argument 'name'");
  expect((await runLine("describe service")).err).toBe(
    "error: The name is missing: which service? unacked describe service NAME; if an observer has this name: unacked describe observer service.\n",
  );
});

it.each([
  ["describe flow f1", "unacked flow show f1"],
  ["timer tea.ready --in 3s --id nope", '"nope" is not a UUID'],
  ["get obs --limit 0", '"0" is not a count. It is a whole number, 1 or more.'],
  ["run resize --on-conflict return", "--on-conflict needs a --key"],
  ["create ticker t1 --start-at 2027-01-31", "startAt: must be a time with its offset, such as 2027-01-31T09:00:00+01:00"],
  ["create ticker t1 --set retry.delaysMs=5", "retry.delaysMs: must be a list of delays in ms, such as [1000, 5000], or {"],
])("%s: %s", async (line, said) => {
  expect((await runLine(line)).err).toContain(said);
});

it.each([
  ["get --groups", "It is: unacked get [options] <kind> [names...]"],
  [
    "get obs --groups",
    "--groups cannot be used with observers. --groups is for errors. To count together what observers failed of: unacked get failures.",
  ],
  ["get svc -l a=b", "--selector cannot be used with services. --selector is for observers."],
  ["get obs --status Failed", "(Did you mean --filter status=VALUE?)"],
  ["get audit --since 1h", "(Did you mean --filter since=VALUE?)"],
  ["get obs -n 5", "(Did you mean --limit?)"],
  ["logs a -n 5", "(Did you mean --tail?)"],
  ["pause --pool=default", "(Did you mean --filter pool=default?)"],
  ["restart pool=default", '"pool=default" is not a name. To select by it: --filter pool=default.'],
  ["limit resize --max 5", "(Did you mean --max-running?)"],
  ["kill a", "(Did you mean stop?)"],
  ["status", "(Did you mean top, or get services?)"],
  ["-v", "(Did you mean --version?)"],
  ["delete my-ticker", "It is: unacked delete [options] <kind> <names...>; to stop an observer: unacked stop my-ticker"],
  ["delete my-ticker other", 'There is no kind "my-ticker". To stop observers: unacked stop my-ticker other.'],
  ["delete tasks a b", "The tasks cannot be deleted. To cancel them: unacked cancel a b."],
  ["delete flows a", "The flows cannot be deleted. To cancel one: unacked flow cancel a."],
  ["run resize --param width=320", "(Did you mean width=320, without --param?)"],
  ["run resize -p width=320", "(Did you mean width=320, without -p?)"],
  ["run resize --param=width=320", "(Did you mean width=320, without --param?)"],
  ["rerun-with t1 --param width=320", "(Did you mean width=320, without --param?)"],
  [
    "timer tea.ready --at 1700000000000",
    "--at: UNIX time is in seconds, and 1700000000000 is too late for that. If it is meant in milliseconds, write 1700000000.",
  ],
  ["timer tea.ready --in 1s --expires-at 1700000000500", "--expires-at: UNIX time is in seconds"],
  ["create ticker t everyMs=5", "(Did you mean --param everyMs=5?)"],
  ["create ticker t --param everyMs", '"everyMs" is not of the form path=value. Write it like everyMs=500.'],
  ["create ticker t --set everyMs=5", "everyMs: there is no such field; as a param it is params.everyMs"],
  ["apply ticker.yaml", "(Did you mean -f ticker.yaml?)"],
  ["timer tea.ready 5m", "(Did you mean --in 5m?)"],
  ["checkpoint my-ticker", "They are: get, set, reset"],
  ["flow list", "(Did you mean unacked get flows?)"],
  ["schedule delete a", "(Did you mean unacked delete schedules?)"],
  ["schedule backfill a", "It is: unacked schedule backfill [options] <schedule> --from <time> --to <time>"],
  ["describe schedule a", "unacked get schedules a -o wide"],
  ["flow create -f nightly.yaml --pool gpu", "--pool is for stages. In a document each task has its own pool."],
])("unacked %s: told what would be right", async (line, right) => {
  const { code, err } = await runLine(line);
  expect(code).toBe(EXIT_CODES.usage);
  expect(err).toContain(right);
});

it.each([
  ["relod --all", "unacked"],
  ["reload --al", "unacked reload"],
  ["flow create a --pol b", "unacked flow create"],
])("%s: the help that tells more is that of %s", async (line, command) => {
  expect((await runLine(line)).err).toContain(`\n(${command} --help tells more)\n`);
});

it.each(["--max-running", "--rate"])("limit %s 0 says how none is started", async (option) => {
  expect((await runLine(`limit resize ${option} 0`)).err).toBe(
    `error: ${option} is 1 or more, or none. To start none: unacked limit TYPE --pause.\n`,
  );
});

it.each(["ls", "list", "ls svc", "list obs a"])("%s is understood", async (line) => {
  const { code, err } = await runLine(line);
  expect({ code, err }).toMatchObject({ code: EXIT_CODES.unreachable, err: expect.stringContaining("Cannot reach") });
});

it("the guide has every exit code, under its name", () => {
  const told = [...readFileSync("docs/cli.md", "utf8").matchAll(/^\| (\d+) \| ([\w ]+?)(?:[:;].*)? \|$/gm)];
  const names = Object.entries(EXIT_CODES).map(([name, code]) => [
    String(code),
    name.replace(/[A-Z]/g, " $&").toLowerCase(),
  ]);
  expect(told.map(([, code, name]) => [code, name])).toEqual(names);
});

it("the guide has every kind, with the names that it may be called by", () => {
  const [, table = ""] = readFileSync("docs/cli.md", "utf8").split("| kind | also | |\n| --- | --- | --- |\n");
  const rows = table.slice(0, table.indexOf("\n\n")).split("\n");
  const told = rows.map((row) =>
    [
      ...row
        .split(" | ", 2)
        .join()
        .matchAll(/`([\w-]+)`/g),
    ].map(([, name = ""]) => name),
  );
  expect(told.map(([kind]) => kind).toSorted()).toEqual(KINDS.toSorted());
  for (const [kind, ...also] of told) for (const name of also) expect(findKind(name), name).toBe(kind);
});

it("a line that is well is one that finds nobody here", async () => {
  const { code, err } = await runLine("get obs");
  expect(code).toBe(EXIT_CODES.unreachable);
  expect(err.split("\n")).toHaveLength(2);
});

it("no words at all show what there is", async () => {
  const { code, out } = await runLine("--help");
  expect(code).toBe(EXIT_CODES.ok);
  expect(out).toContain("Commands:");
});
