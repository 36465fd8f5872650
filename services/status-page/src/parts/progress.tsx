import type { Tone } from "../store/statuses.ts";
import css from "./progress.module.css";

/** How much is done, and how it ended: a bar of parts of one, the rest open. The same stands beside it in words. */
export function Progress({ parts }: { parts: readonly { tone: Tone; part: number }[] }) {
  let from = 0;
  return (
    <svg className={css.bar} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      {parts.map(({ tone, part }) => {
        const x = from;
        from += part * 100;
        return part === 0 ? null : <rect key={tone} data-tone={tone} x={x} y={0} width={part * 100} height={6} />;
      })}
    </svg>
  );
}
