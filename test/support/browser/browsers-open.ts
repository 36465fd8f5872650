/** Browsers of this file. A page that outlives its system asks the system that is given the port next, in the name of the next file. */
const open = new Set<() => Promise<void>>();

export function keepOpen(close: () => Promise<void>): void {
  open.add(close);
}

/** Before the system that their pages ask goes. */
export async function closeBrowsers(): Promise<void> {
  const all = [...open];
  open.clear();
  await Promise.all(all.map((close) => close()));
}
