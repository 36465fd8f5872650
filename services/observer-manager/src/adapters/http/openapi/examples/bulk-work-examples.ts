import { type BeginWork, PROBLEMS, type WorkPage, type WorkView } from "@unacked/contracts";
import type { z } from "zod";

const ID = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f91";
const filter = { labels: { team: "web" } };

export const NEW_WORK = { id: ID, act: "pause", filter } satisfies z.input<typeof BeginWork>;

export const WORK_BEGUN = {
  id: ID,
  of: "observers",
  act: "pause",
  filter,
  all: false,
  force: false,
  whenFull: "reject",
  status: "Running",
  begunBy: { name: "ada", role: "operator" },
  begunAt: "2026-11-20T09:00:00.000Z",
  endedAt: null,
  cancelledBy: null,
  total: 9_412,
  done: 0,
  failed: 0,
  remaining: 9_412,
  leftAlone: 0,
  msLeft: null,
  waitsFor: null,
  refused: [],
} satisfies WorkView;

const { title, remedy } = PROBLEMS["not-pausable"];

export const WORK_UNDER_WAY = {
  ...WORK_BEGUN,
  done: 2_498,
  failed: 2,
  remaining: 6_912,
  msLeft: 8_300,
  refused: [{ code: "not-pausable", title, remedy, count: 2, names: ["shop-front", "shop-back"] }],
} satisfies WorkView;

export const WORK_DONE = {
  ...WORK_UNDER_WAY,
  status: "Done",
  endedAt: "2026-11-20T09:00:12.000Z",
  done: 9_409,
  remaining: 0,
  leftAlone: 1,
  msLeft: null,
} satisfies WorkView;

export const WORK_CANCELLED = {
  ...WORK_UNDER_WAY,
  status: "Cancelled",
  endedAt: "2026-11-20T09:00:03.000Z",
  cancelledBy: "bob",
  remaining: 0,
  leftAlone: 6_912,
  msLeft: null,
} satisfies WorkView;

export const WORK_PAGE = { items: [WORK_UNDER_WAY], total: 1, isTotalExact: true, nextCursor: null } satisfies WorkPage;
