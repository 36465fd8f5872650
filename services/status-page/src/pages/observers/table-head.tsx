import { useEffect, useRef } from "react";
import type { ListFilter } from "../../store/list-filter.ts";
import css from "./observer-table.module.css";

interface Props {
  filter: ListFilter;
  onFilter: (filter: ListFilter) => void;
  chosen: number;
  count: number;
  onChooseAll: (all: boolean) => void;
}

export function TableHead({ filter, onFilter, chosen, count, onChooseAll }: Props) {
  const byAttempts = filter.sort === "attempts";
  const box = useRef<HTMLInputElement>(null);
  const isAll = count > 0 && chosen >= count;
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = chosen > 0 && !isAll;
  }, [chosen, isAll]);
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
            onChange={(event) => onChooseAll(event.currentTarget.checked)}
          />
        </div>
        <div role="columnheader" className={css.name} aria-sort={byAttempts ? "none" : "descending"}>
          <Sorter
            isOn={!byAttempts}
            text="Name"
            title="newest first"
            onClick={() => onFilter({ ...filter, sort: "newest" })}
          />
        </div>
        <Head of="status">Status</Head>
        <Head of="type">Type</Head>
        <Head of="service">Service</Head>
        <Head of="pool">Pool</Head>
        <div role="columnheader" className={css.attempts} aria-sort={byAttempts ? "descending" : "none"}>
          <Sorter
            isOn={byAttempts}
            text="Attempts"
            title="most attempts first"
            onClick={() => onFilter({ ...filter, sort: "attempts" })}
          />
        </div>
        <Head of="runs">Runs</Head>
        <Head of="changed">Changed</Head>
        <Head of="error">Last error</Head>
      </div>
    </div>
  );
}

function Head({ of, children }: { of: string; children: string }) {
  return (
    <div role="columnheader" className={css[of]}>
      {children}
    </div>
  );
}

function Sorter({ isOn, text, title, onClick }: { isOn: boolean; text: string; title: string; onClick: () => void }) {
  return (
    <button type="button" className={css.sorter} title={title} onClick={onClick}>
      {text} <span className={css.hint}>{isOn ? `▾ ${title === "newest first" ? title : ""}` : ""}</span>
    </button>
  );
}
