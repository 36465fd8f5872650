import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import css from "./small-chart.module.css";

interface Props {
  timesS: number[];
  values: (number | null)[];
  /** A custom property that holds the colour. */
  colour: string;
  label: string;
}

const HEIGHT_PX = 84;
/** Nobody starts half a run. */
const WHOLE = [1, 10, 100, 1_000, 10_000, 100_000].flatMap((ten) => [ten, 2 * ten, 5 * ten]);
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact" });
/** A quiet system does not look like a busy one: the scale is never finer than this. */
const LEAST_TOP = 5;

/** A line without furniture: the number beside it says how much. Rebuilt when the colours change. */
export function SmallChart({ timesS, values, colour, label }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const scheme = useComputedColorScheme();

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = new UPlot(optionsOf(element, colour), [[], []], element);
    plot.current = made;
    const follow = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    follow.observe(element);
    return () => {
      follow.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [colour, scheme]);

  useEffect(() => plot.current?.setData([timesS, values]), [timesS, values, scheme, colour]);

  return <div ref={place} className={css.chart} role="img" aria-label={label} />;
}

function optionsOf(element: HTMLElement, colour: string): UPlot.Options {
  const look = getComputedStyle(element);
  const line = look.getPropertyValue(colour).trim();
  const grid = { stroke: look.getPropertyValue("--line").trim(), width: 1 };
  const axis = { stroke: look.getPropertyValue("--soft").trim(), grid, ticks: { show: false }, font: "11px system-ui" };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    padding: [8, 2, 8, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(LEAST_TOP, most)] } },
    axes: [
      { ...axis, show: false },
      { ...axis, size: 30, gap: 4, space: 28, incrs: WHOLE, values: (_plot, at) => at.map((each) => SHORT.format(each)) },
    ],
    series: [
      {},
      { stroke: line, width: 1.5, fill: `color-mix(in srgb, ${line} 15%, transparent)`, points: { show: false } },
    ],
  };
}
