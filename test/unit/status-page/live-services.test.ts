import type { ServiceView } from "@unacked/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { LiveServices } from "../../../services/status-page/src/live/live-services.ts";

// Before the page's modules are loaded, whose client is for where their page came from.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1:8080/")));

const service = (name: string, more: Partial<ServiceView> = {}): ServiceView =>
  ({ id: name, name, endedAt: null, draining: false, ...more }) as ServiceView;

/** Each reading of the list is answered when the test says so. */
function readings(): ((...items: ServiceView[]) => void)[] {
  const answers: ((...items: ServiceView[]) => void)[] = [];
  const answered = () =>
    new Promise<Response>((resolve) => {
      answers.push((...items) => resolve(Response.json({ items, total: items.length })));
    });
  vi.stubGlobal("fetch", answered);
  onTestFinished(() => void vi.unstubAllGlobals());
  return answers;
}

const shown = (services: LiveServices) =>
  services.living().map(({ name, draining }) => `${name}${draining ? " drains" : ""}`);

test("What an event says while the list is read is not undone by the list, which is older", async () => {
  const answers = readings();
  const services = new LiveServices();
  services.take(service("gone before"));
  const reading = services.reload();
  services.take(service("a", { draining: true }));
  services.take(service("b", { endedAt: "2026-01-01T00:00:00Z" }));
  services.take(service("born"));
  answers[0]?.(service("a"), service("b"), service("c"));
  await reading;
  expect(shown(services)).toEqual(["a drains", "born", "c"]);
});

test("Of two readings the one that was asked for last counts, whichever is answered last", async () => {
  const answers = readings();
  const services = new LiveServices();
  const first = services.reload();
  services.take(service("born"));
  const second = services.reload();
  answers[1]?.(service("born"), service("c"));
  await second;
  answers[0]?.(service("c"));
  await first;
  expect(shown(services)).toEqual(["born", "c"]);
});
