import type { TaskTypeFigures } from "@unacked/contracts";
import { barsOf, sayBars } from "../../store/figure-bars.ts";
import css from "./figures.module.css";

const WIDTH = 3;
const GAP = 1;
const HEIGHT = 28;

/** Throughput by minute or hour, the oldest on the left; what was given up stands above in the colour of failures. */
export function FigureBars({ of, by }: { of: TaskTypeFigures; by: "minute" | "hour" }) {
  const bars = barsOf(of);
  const width = bars.length * (WIDTH + GAP);
  return (
    <svg
      className={css.bars}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={sayBars(of, by)}
    >
      <line className={css.ground} x1={0} x2={width} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {bars.map(({ at, completed, failed }, index) =>
        completed + failed === 0 ? null : (
          <g key={at}>
            <rect
              className={css.done}
              x={index * (WIDTH + GAP)}
              y={HEIGHT * (1 - completed)}
              width={WIDTH}
              height={HEIGHT * completed}
            />
            <rect
              className={css.failed}
              x={index * (WIDTH + GAP)}
              y={HEIGHT * (1 - completed - failed)}
              width={WIDTH}
              height={HEIGHT * failed}
            />
          </g>
        ),
      )}
    </svg>
  );
}
