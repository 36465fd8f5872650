import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describeSettings } from "@unacked/settings";
import { describe, expect, test } from "vitest";
import { apiRoutes } from "../../services/observer-manager/src/adapters/http/api/api-routes.ts";
import { ManagerSettings } from "../../services/observer-manager/src/settings.ts";
import { ServiceSettings } from "../../services/observer-service/src/settings/settings.ts";
import { pages } from "../support/docs/pages.ts";
import { openApi } from "../support/rest/rest-contract.ts";

const root = resolve(import.meta.dirname, "../..");
const textOf = (page: string): string => readFileSync(join(root, page), "utf8");

describe("the pages", () => {
  test("link to files that exist, and to headings that are there", () => {
    const links = pages.flatMap((page) => linksOf(page));
    expect(links.length).toBeGreaterThan(60);
    expect(links.filter((link) => !leadsSomewhere(link)).map(({ page, target }) => `${page}: ${target}`)).toEqual([]);
  });

  test("name REST paths that the OpenAPI document has, with a method that it has", () => {
    const known = restPaths();
    const named = pages.flatMap((page) => restCallsOf(page));
    expect(named.length).toBeGreaterThan(20);
    const unknown = named.filter(({ method, path }) => !known.some((one) => one.fits(path) && one.methods.includes(method)));
    expect(unknown).toEqual([]);
  });

  test("name settings that one of the programs has, or the compose file", () => {
    const known = new Set(settingNames());
    const named = pages.flatMap((page) => settingsOf(page).map((name) => ({ page, name })));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
  });
});

test("the page on REST has every call", () => {
  const told = restCallsOf("docs/rest.md");
  for (const { template, methods, fits } of restPaths()) {
    for (const method of methods) {
      const isTold = told.some((call) => call.method === method && fits(call.path));
      expect(isTold, `${method} ${template}`).toBe(true);
    }
  }
});

test("the security guide has every call that changes something beside the role that it needs", () => {
  const told = [...textOf("docs/security.md").matchAll(/^\| `(taker|viewer|operator|admin)` \|.*$/gm)].flatMap(
    ([line, role]) =>
      [...line.matchAll(/`([A-Z]+) (\/api\/v1[\w/{}-]*)`/g)].map(([, method, path]) => `${role}: ${method} ${path}`),
  );
  const needed = apiRoutes({} as never)
    .filter(({ method, access }) => access !== "open" && (method !== "get" || access !== "viewer"))
    .map(({ method, path, access }) => `${access}: ${method.toUpperCase()} ${path}`);
  expect(told.toSorted()).toEqual(needed.toSorted());
});

test("each test that the guarantees name is there under that name", () => {
  const named = [...textOf("docs/guarantees.md").matchAll(/\]\(\.\.\/(test\/[^)]+)\): ((?:"[^"]+"(?:,\s)?)+)/g)].flatMap(
    ([, file = "", names = ""]) =>
      [...names.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => ({ file, name: name.replace(/\s+/g, " ") })),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ file, name }) => !textOf(file).includes(`"${name}"`))).toEqual([]);
});

interface Link {
  page: string;
  target: string;
}

/** Relative links only: what is elsewhere is not ours to hold. */
function linksOf(page: string): Link[] {
  const withoutCode = textOf(page).replaceAll(/^```[\s\S]*?^```/gm, "");
  return [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => ({ page, target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere({ page, target }: Link): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : relative(root, resolve(root, dirname(page), path));
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || headingsOf(file).includes(anchor);
}

/** As GitHub makes an anchor of a heading. */
function headingsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function restPaths() {
  return Object.entries(openApi().paths).map(([template, operations]) => {
    const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return {
      template,
      methods: Object.keys(operations).map((method) => method.toUpperCase()),
      fits: (path: string) => pattern.test(path),
    };
  });
}

/** Calls as the tables write them, `POST /api/v1/observers`, and as curl does. */
function restCallsOf(page: string) {
  const text = textOf(page).replaceAll(/\\\n\s*/g, " ");
  const inTables = [
    ...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/(?:api\/v1|api\/openapi|healthz|readyz|metrics)[\w/{}.-]*)/g),
  ].map(([, method = "", path = ""]) => ({ page, method, path }));
  // Port 3000 is that of the reader's own app (docs/ways-in.md).
  const inCurl = [...text.matchAll(/\bcurl .*?https?:\/\/(?!127\.0\.0\.1:3000)[\w.:]+(\/[\w/{}.-]+)/g)].map(
    ([call, path = ""]) => ({
      page,
      method: /-X ([A-Z]+)/.exec(call)?.[1] ?? "GET",
      path,
    }),
  );
  return [...inTables, ...inCurl];
}

function settingNames(): string[] {
  const all = [...describeSettings(ManagerSettings), ...describeSettings(ServiceSettings)];
  const ofCompose = [...textOf("docker-compose.yml").matchAll(/\$\{(\w+)|^\s+([A-Z][A-Z0-9_]+):/gm)].map(
    ([, variable, name]) => variable ?? name ?? "",
  );
  return ["CONFIG_FILE", ...all.flatMap(({ name }) => name.split(" or ")), ...ofCompose];
}

/** Upper-case words in backticks that could be a setting, and variables that a command line gives to one of the programs. */
function settingsOf(page: string): string[] {
  const text = textOf(page);
  const inBackticks = [...text.matchAll(/`([A-Z][A-Z0-9_]+)(?:=[^`]*)?`/g)].map(([, name = ""]) => name);
  const onCommandLines = [...text.matchAll(/^.*\bnode services\/.*$/gm)].flatMap(([line]) =>
    [...line.matchAll(/\b([A-Z][A-Z0-9_]+)=/g)].map(([, name = ""]) => name),
  );
  return [...inBackticks, ...onCommandLines].filter((name) => !NOT_SETTINGS.test(name));
}

/** Methods and signals, variables of commands and of OpenTelemetry (docs/tracing.md), and words of PostgreSQL and AMQP. */
const NOT_SETTINGS =
  /^(GET|POST|DELETE|SIG[A-Z]+|PATH|HOME|LANG|LD_PRELOAD|NODE_OPTIONS|PS4|MAKEFLAGS|LESSOPEN|OTEL_\w+|UNACKED_\w+|CASE|EXPLAIN|WHERE|VALUES)$/;
