import { type MouseEvent, memo } from "react";
import { AgeOf } from "../../parts/age-of.tsx";
import { CutName } from "../../parts/cut-name.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfObserver } from "../../shell/route.ts";
import type { ObserverRow } from "../../store/observer-row.ts";
import css from "./observer-table.module.css";

interface Props {
  row: ObserverRow;
  index: number;
  top: number;
  isActive: boolean;
  isChosen: boolean;
  onChoose: (id: string, withRange: boolean) => void;
}

/** Redrawn only when its own row changed, not when others did. */
export const ObserverTableRow = memo(function ObserverTableRow({ row, index, top, isActive, isChosen, onChoose }: Props) {
  const choose = (event: MouseEvent) => onChoose(row.id, event.shiftKey);
  return (
    <div
      id={`row-${row.id}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      data-active={isActive}
      className={`${css.row} ${css.bodyRow}`}
      style={{ transform: `translateY(${top}px)` }}
    >
      <div role="gridcell" className={css.choose}>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Choose ${row.name}`}
          checked={isChosen}
          onClick={choose}
          readOnly
        />
      </div>
      <div role="gridcell" className={css.name}>
        <Link href={addressOfObserver(row.id)} tabIndex={-1} title={row.name} aria-label={row.name}>
          <CutName name={row.name} />
        </Link>
      </div>
      <div role="gridcell" className={css.status}>
        <StatusMark status={row.status} pending={row.pending} isSilent={row.silentSince !== null} />
      </div>
      <div role="gridcell" className={css.type} title={row.type}>
        {row.type}
      </div>
      <div role="gridcell" className={css.service} title={row.serviceName ?? ""} aria-label={row.serviceName ?? undefined}>
        {row.serviceName === null ? "–" : <CutName name={row.serviceName} />}
      </div>
      <div role="gridcell" className={css.pool}>
        {row.pool}
      </div>
      <div role="gridcell" className={css.silent}>
        {row.silentSince !== null && <AgeOf since={row.silentSince} />}
      </div>
      <div role="gridcell" className={css.restarts} data-again={row.restartsLately >= 5}>
        {row.restartsLately > 0 && row.restartsLately}
      </div>
      <div role="gridcell" className={css.attempts} data-again={row.attempts > 1}>
        {row.attempts}
      </div>
      <div role="gridcell" className={css.runs}>
        {row.runNumber}
      </div>
      <div role="gridcell" className={css.changed}>
        <Time at={row.modifiedAt} />
      </div>
      <div role="gridcell" className={css.error} title={row.error ?? ""}>
        {row.error}
      </div>
    </div>
  );
});
