import type { Page } from "playwright-core";

/** The page's calls of this method there are not sent before they are let go. */
export async function holdUp(page: Page, method: string, address: RegExp) {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let tell = (): void => undefined;
  const untilHeld = new Promise<void>((resolve) => {
    tell = resolve;
  });
  await page.route(address, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    tell();
    await gate;
    return route.continue();
  });
  return { untilHeld, letGo: () => open() };
}
