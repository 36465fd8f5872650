import { Button } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useLayoutEffect, useRef } from "react";
import type { OrderedView } from "../../live/ordered-view.ts";
import { useLive } from "../../live/use-live.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { Blank } from "../../parts/blank.tsx";
import { navigate } from "../../shell/navigation.tsx";
import { addressOfObserver } from "../../shell/route.ts";
import { type ListFilter, NO_FILTER, narrows } from "../../store/list-filter.ts";
import { allOf, areAllChosen, extendedTo, NOTHING_CHOSEN, type Selection, toggled } from "../../store/selection.ts";
import { keyAction } from "./key-action.ts";
import { KeyHints } from "./key-hints.tsx";
import css from "./observer-table.module.css";
import { ObserverTableRow } from "./observer-table-row.tsx";
import { TableHead } from "./table-head.tsx";
import { useActiveRow } from "./use-active-row.ts";
import { useAnchor } from "./use-anchor.ts";
import { useEvent } from "./use-event.ts";
import { useRowHeight } from "./use-row-height.ts";

interface Props {
  view: OrderedView;
  filter: ListFilter;
  onFilter: (filter: ListFilter) => void;
  selection: Selection;
  onSelect: (selection: Selection) => void;
  onCreate: () => void;
}

/**
 * The list, of which only what can be seen is in the document. One stop of the Tab key: within it the arrows move, and the
 * screen reader is told the active row by `aria-activedescendant`.
 */
export function ObserverTable({ view, filter, onFilter, selection, onSelect, onCreate }: Props) {
  const { observers } = useLive();
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight();
  const { rows } = view;
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingStart: rowHeight,
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  useAnchor({ scroller, view, rowHeight });
  const { index: activeIndex, id: activeId, activate } = useActiveRow(view);

  const moveTo = (index: number): string | undefined => {
    const id = rows.idAt(Math.max(0, Math.min(rows.length - 1, index)));
    if (id === undefined) return undefined;
    activate(id);
    virtualizer.scrollToIndex(Math.max(0, Math.min(rows.length - 1, index)));
    return id;
  };

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return;
    const visibleRows = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const action = keyAction(event, { activeIndex, count: rows.length, page: visibleRows });
    if (action === null) return;
    event.preventDefault();
    if (action.kind === "move") {
      const id = moveTo(action.to);
      if (action.extends && id !== undefined) {
        const anchor = selection.anchor ?? activeId ?? id;
        onSelect(extendedTo({ ...selection, anchor }, id, rows.ids()));
      }
    }
    if (action.kind === "toggle" && activeId !== undefined) onSelect(toggled(selection, activeId));
    if (action.kind === "open" && activeId !== undefined) navigate(addressOfObserver(activeId));
    if (action.kind === "all") onSelect(allOf(rows.ids()));
    if (action.kind === "none") onSelect(NOTHING_CHOSEN);
  };

  // After a click on a box the keys of the list act, too: the box would keep the focus. Before its row becomes the active one.
  const takeKeys = () => scroller.current?.focus({ preventScroll: true });
  const choose = useEvent((id: string, withRange: boolean) => {
    takeKeys();
    activate(id);
    onSelect(withRange ? extendedTo(selection, id, rows.ids()) : toggled(selection, id));
  });

  return (
    <>
      <div
        ref={scroller}
        className={`panel ${css.table}`}
        role="grid"
        aria-label="Observers"
        aria-rowcount={rows.length + 1}
        aria-multiselectable="true"
        aria-activedescendant={activeId === undefined ? undefined : `row-${activeId}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={(event) => event.target === event.currentTarget && activeIndex < 0 && activate(rows.idAt(0))}
      >
        <TableHead
          filter={filter}
          onFilter={onFilter}
          chosen={selection.ids.size}
          count={rows.length}
          isAll={areAllChosen(selection, rows)}
          onPointed={takeKeys}
          onChooseAll={(all) => onSelect(all ? allOf(rows.ids()) : NOTHING_CHOSEN)}
        />
        <div role="rowgroup" className={css.body} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const row = observers.index.get(rows.idAt(index) ?? "");
            if (row === undefined) return null;
            return (
              <ObserverTableRow
                key={row.id}
                row={row}
                index={index}
                top={start}
                isActive={index === activeIndex}
                isChosen={selection.ids.has(row.id)}
                onChoose={choose}
              />
            );
          })}
        </div>
        {rows.length === 0 && <NothingShown filter={filter} onFilter={onFilter} onCreate={onCreate} />}
      </div>
      <KeyHints />
    </>
  );
}

function NothingShown({ filter, onFilter, onCreate }: Pick<Props, "filter" | "onFilter" | "onCreate">) {
  const { observers } = useLive();
  const isReadingDeleted = filter.statuses.includes("Deleted") && observers.deleted.phase !== "read";
  const isReading = observers.loading.phase === "reading" || isReadingDeleted;
  return (
    <div role="row" className={css.none}>
      <div role="gridcell">
        {isReading ? (
          <Blank title="Reading the list …" />
        ) : narrows(filter) ? (
          <Blank title="No observer matches">
            <p>
              <Button size="compact-sm" variant="default" onClick={() => onFilter(NO_FILTER)}>
                Show all that live
              </Button>
            </p>
          </Blank>
        ) : (
          <Blank title="No observer yet">
            <p>An observer is a job without an end: it runs on some service until you stop it.</p>
            <p>
              <ActionButton call="createObserver" size="compact-sm" onClick={onCreate}>
                Create the first
              </ActionButton>
            </p>
          </Blank>
        )}
      </div>
    </div>
  );
}
