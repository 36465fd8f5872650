import axe from "axe-core";
import type { Page } from "playwright-core";

/**
 * What axe objects to, by these rules; none named: by all. Each with the elements that it is about.
 *
 * axe stays in the page until it is left: putting it there takes as long as a look.
 */
export async function violationsOf(page: Page, rules: string[] = []): Promise<string[]> {
  if (page.frames().length > 1) throw new Error("The page holds a frame: axe has to be put into each.");
  if (await page.evaluate("window.axe === undefined")) await page.evaluate(axe.source);
  const runOnly = rules.length === 0 ? {} : { runOnly: { type: "rule", values: rules } };
  const options = JSON.stringify({ resultTypes: ["violations"], ...runOnly });
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${options})`);
  return violations.map(({ id, nodes }) => `${id} ${nodes.map((node) => node.html).join(" | ")}`);
}
