import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { OrderedView } from "../../live/ordered-view.ts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { sayCount } from "../../parts/say.ts";
import { Link, navigate, useSearch } from "../../shell/navigation.tsx";
import { type ListFilter, readFilter, writeFilter } from "../../store/list-filter.ts";
import { NOTHING_CHOSEN } from "../../store/selection.ts";
import { ActionBar } from "./action-bar.tsx";
import { CreateDialog } from "./create-dialog.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { GroupTable } from "./group-table.tsx";
import { ObserverTable } from "./observer-table.tsx";
import css from "./observers.module.css";

/** All observers in one list, live; what it shows stands in the address. */
export default function Observers() {
  const { observers } = useLive();
  const search = useSearch();
  const filter = useMemo(() => readFilter(search), [search]);
  const view = useMemo(() => new OrderedView(observers, filter), [observers, filter]);
  useSyncExternalStore(view.subscribe, view.getVersion);
  const [selection, setSelection] = useState(NOTHING_CHOSEN);
  const [isCreating, setCreating] = useState(false);
  const wantsDeleted = filter.statuses.includes("Deleted");
  useEffect(() => {
    if (wantsDeleted) observers.wantDeleted();
  }, [observers, wantsDeleted]);

  const setFilter = (next: ListFilter) => navigate(`/observers${writeFilter(next)}`, { replace: true });
  return (
    <>
      <div className={css.head}>
        <h1>Observers</h1>
        <Total shown={view.rows.length} />
        <Link href="/work">Bulk work</Link>
        <ActionButton call="createObserver" size="compact-md" onClick={() => setCreating(true)}>
          New observer
        </ActionButton>
      </div>
      <FilterBar filter={filter} onChange={setFilter} />
      {filter.group !== "" && <GroupTable view={view} filter={filter} />}
      {filter.group === "" && (
        <>
          <ActionBar selection={selection} rows={view.rows} filter={filter} onDone={() => setSelection(NOTHING_CHOSEN)} />
          <ObserverTable
            view={view}
            filter={filter}
            onFilter={setFilter}
            selection={selection}
            onSelect={setSelection}
            onCreate={() => setCreating(true)}
          />
        </>
      )}
      <CreateDialog opened={isCreating} onClose={() => setCreating(false)} />
    </>
  );
}

/** How many are shown; while the list is still being read, how far that is. */
function Total({ shown }: { shown: number }) {
  const { observers } = useLive();
  useSignal(observers.changed);
  const { loading } = observers;
  const isPart = loading.phase === "reading" && loading.total !== null && loading.total > loading.read;
  if (loading.phase === "reading" && loading.total === null && shown === 0)
    return <p className={css.total}>Reading the list</p>;
  return (
    <p className={`${css.total} figures`}>
      {sayCount(shown)} shown
      {isPart && `, ${sayCount(loading.read)} of ${sayCount(loading.total ?? 0)} read`}
    </p>
  );
}
