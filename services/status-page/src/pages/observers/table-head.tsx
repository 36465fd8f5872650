import { useEffect, useRef } from "react";
import { type ListFilter, SORTS, type Sort } from "../../store/list-filter.ts";
import css from "./observer-table.module.css";

interface Props {
  filter: ListFilter;
  onFilter: (filter: ListFilter) => void;
  chosen: number;
  count: number;
  isAll: boolean;
  onChooseAll: (all: boolean) => void;
  /** Its box was clicked, and not by a key. */
  onPointed: () => void;
}

const COLUMNS: { of: Sort; text: string; title?: string }[] = [
  { of: "name", text: "Name" },
  { of: "status", text: "Status" },
  { of: "type", text: "Type" },
  { of: "service", text: "Service" },
  { of: "pool", text: "Pool" },
  { of: "silent", text: "Silent for" },
  { of: "restarts", text: "Restarts", title: "how often its handler began again in the last 10 minutes" },
  { of: "attempts", text: "Attempts" },
  { of: "runs", text: "Runs" },
  { of: "changed", text: "Changed" },
  { of: "error", text: "Last error" },
];

/** A column's button sorts by it, then the other way round, then as if nobody had asked: the newest first. */
export function TableHead({ filter, onFilter, chosen, count, isAll, onChooseAll, onPointed }: Props) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = chosen > 0 && !isAll;
  }, [chosen, isAll]);
  const sortBy = (sort: Sort) => {
    const isOn = filter.sort === sort;
    if (isOn && filter.isReversed) return onFilter({ ...filter, sort: "newest", isReversed: false });
    onFilter({ ...filter, sort, isReversed: isOn });
  };
  return (
    <div role="rowgroup" className={css.headGroup}>
      <div role="row" aria-rowindex={1} className={`${css.row} ${css.headRow}`}>
        <div role="columnheader" className={css.choose}>
          <input
            ref={box}
            type="checkbox"
            aria-label="Choose all that are shown"
            checked={isAll}
            disabled={count === 0}
            onClick={({ detail: clicks }) => clicks > 0 && onPointed()}
            onChange={(event) => onChooseAll(event.currentTarget.checked)}
          />
        </div>
        {COLUMNS.map(({ of, text, title }) => (
          <div key={of} role="columnheader" className={css[of]} aria-sort={ariaSort(filter, of)}>
            <button
              type="button"
              className={css.sorter}
              title={title === undefined ? SORTS[of] : `${title}: ${SORTS[of]}`}
              onClick={() => sortBy(of)}
            >
              {text} <span className={css.hint}>{hintOf(filter, of)}</span>
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}

const FROM_MOST: ReadonlySet<Sort> = new Set(["restarts", "attempts", "runs", "changed"]);

function ariaSort({ sort, isReversed }: ListFilter, of: Sort): "none" | "ascending" | "descending" {
  if (sort !== of) return "none";
  return FROM_MOST.has(of) === isReversed ? "ascending" : "descending";
}

function hintOf(filter: ListFilter, of: Sort): string {
  if (filter.sort === "newest") return of === "name" ? (filter.isReversed ? "▴ oldest first" : "▾ newest first") : "";
  if (filter.sort !== of) return "";
  return ariaSort(filter, of) === "ascending" ? "▴" : "▾";
}
