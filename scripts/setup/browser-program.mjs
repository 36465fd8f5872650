import { existsSync } from "node:fs";
import { say, step } from "../progress.mjs";
import { canInstall, installPackage } from "./apt-get.mjs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

export const HOW_TO_GET_A_BROWSER =
  "The browser tests need Chromium. On Debian or Ubuntu: apt-get install chromium. Elsewhere set CHROMIUM to its program.";

/** @returns {string | null} Chromium's program: what CHROMIUM names, or where it usually is */
export function findBrowser() {
  return process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place)) ?? null;
}

/** Makes sure that the browser tests have one. Where that cannot be done they fail and say so; the other tests need none. */
export async function provideBrowser() {
  if (findBrowser() !== null) return;
  if (!canInstall()) return say(HOW_TO_GET_A_BROWSER);
  await step("Installing Chromium by apt-get, for the browser tests (about 100 MB)", () =>
    installPackage("chromium", HOW_TO_GET_A_BROWSER),
  );
}
