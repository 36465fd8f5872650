import { expect, test } from "vitest";
import { type Notice, withNotice } from "../../../services/status-page/src/store/notice-board.ts";

const boardOf = (...said: string[]): string[] => {
  const notices = said.map((text, id): Notice => ({ id, tone: text.startsWith("no") ? "refused" : "done", text }));
  return notices.reduce<Notice[]>(withNotice, []).map(({ text }) => text);
};

test("of what went well only the newest is shown, and no refusal is pushed out by it", () => {
  expect(boardOf("a", "b", "c", "d", "e")).toEqual(["b", "c", "d", "e"]);
  expect(boardOf("no 1", "a", "b", "c", "d", "e")).toEqual(["no 1", "c", "d", "e"]);
  expect(boardOf("no 1", "no 2", "no 3", "no 4", "no 5", "a")).toEqual(["no 1", "no 2", "no 3", "no 4", "no 5", "a"]);
});

test("a refusal that is said again stands there once", () => {
  expect(boardOf("no 1", "no 2", "no 1")).toEqual(["no 2", "no 1"]);
});
