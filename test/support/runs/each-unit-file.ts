import { afterAll, vi } from "vitest";

/** Files share their process (`isolate: false`), and with it whatever one of them has put in the place of `fetch`. */
afterAll(() => void vi.unstubAllGlobals());
