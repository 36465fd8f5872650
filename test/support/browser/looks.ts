import type { Page } from "playwright-core";
import { expect } from "vitest";
import { inTurn } from "../runs/turns.ts";
import { violationsOf } from "./accessibility.ts";
import { NARROW, takePicture, WIDE } from "./browser.ts";

/** What is not colour is the same in light and dark: it is looked at once. None: all of axe's. */
export const rulesIn = (colorScheme: "light" | "dark"): string[] =>
  colorScheme === "dark" ? ["color-contrast", "link-in-text-block"] : [];

/** What differs from light and wide. */
const OTHERS = [
  ["light", "narrow"],
  ["dark", "wide"],
  ["dark", "narrow"],
] as const;

/** As it stands it is fine, light and dark, wide and narrow: axe objects to nothing, and it does not scroll sideways. With pictures. */
export async function looksFine(page: Page, name: string): Promise<void> {
  for (const [colorScheme, width] of [["light", "wide"] as const, ...inTurn(OTHERS)]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(width === "wide" ? WIDE : NARROW);
    expect(await violationsOf(page, rulesIn(colorScheme)), `${name} ${colorScheme} ${width}`).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), `${name} ${width}`).toBe(true);
    await takePicture(page, `${name}-${colorScheme}-${width}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(WIDE);
}
