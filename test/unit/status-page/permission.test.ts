import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Role, SessionView } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { apiRoutes } from "../../../services/observer-manager/src/adapters/http/api/api-routes.ts";
import { whyNot } from "../../../services/status-page/src/store/permission.ts";

const SOURCES = join(import.meta.dirname, "../../../services/status-page/src");

const who = (role: Role): SessionView => ({
  name: "anna",
  role,
  authentication: "token",
  expiresAt: null,
  needs: { look: "viewer", stop: "operator", remove: "admin" },
});

describe("what somebody may do on the page", () => {
  it("goes by the role that the manager says each call needs", () => {
    const closedTo = (role: Role) =>
      ["look", "stop", "remove", "open", "__proto__"].filter((call) => whyNot(who(role), call));
    expect([closedTo("viewer"), closedTo("operator"), closedTo("admin")]).toEqual([["stop", "remove"], ["remove"], []]);
    expect(whyNot(who("viewer"), "remove")).toBe("This needs the role admin; yours is viewer.");
  });

  it("is asked by names of calls that the manager has", () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".tsx"));
    const texts = files.map((file) => readFileSync(join(SOURCES, file), "utf8"));
    const asked = texts.flatMap((text) =>
      [...text.matchAll(/\bcall=(?:"(\w+)"|\{[^}]*\})/g)].flatMap(([whole, name]) =>
        name === undefined ? [...whole.matchAll(/[?:] "(\w+)"/g)].map(([, one]) => one) : [name],
      ),
    );
    const known: string[] = apiRoutes({} as never).map(({ operationId }) => operationId);
    expect(asked.length).toBeGreaterThan(6);
    expect(asked.filter((name) => name !== undefined && !known.includes(name))).toEqual([]);
  });
});
