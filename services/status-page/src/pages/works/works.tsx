import type { WorkView } from "@unacked/contracts";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { Blank } from "../../parts/blank.tsx";
import { FoundCount } from "../../parts/found-count.tsx";
import { Pager, usePages } from "../../parts/pager.tsx";
import table from "../../parts/plain-table.module.css";
import { Progress } from "../../parts/progress.tsx";
import { sayCount } from "../../parts/say.ts";
import { WorkMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfWork } from "../../shell/route.ts";
import { partsOfWork, sayFilter, sayWork } from "../../store/work-looks.ts";
import css from "./works.module.css";

const LOOK_EVERY_MS = 2_000;
const PAGE = 50;

/** What was asked of very many, the newest first. */
export default function Works() {
  const pages = usePages("works");
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const answer = useAnswer("listWork", { query: { limit: PAGE, ...pages.query } }, nowMs);
  const { data, failure, reload } = answer;
  return (
    <>
      <h1>Bulk work</h1>
      {data === null && <Unanswered what="Bulk work" height="20rem" failure={failure} onRetry={reload} />}
      {data !== null && data.items.length === 0 && (
        <Blank title="There is none">
          <p>
            Choose all that match a filter among the <Link href="/observers">observers</Link>, and stop, restart, pause or
            resume them.
          </p>
        </Blank>
      )}
      {data !== null && data.items.length > 0 && (
        <>
          <FoundCount shown={pages.rowsBefore + data.items.length} of={data} answer={answer} />
          {/* Focusable, as a wide one scrolls. */}
          <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Bulk work">
            <table className={`${table.table} ${table.lined} ${css.table} figures`}>
              <thead>
                <tr>
                  <th scope="col">What</th>
                  <th scope="col">Which</th>
                  <th scope="col">Status</th>
                  <th scope="col">How far</th>
                  <th scope="col" className={css.count}>
                    Done
                  </th>
                  <th scope="col" className={css.count}>
                    Failed
                  </th>
                  <th scope="col" className={css.count}>
                    Of
                  </th>
                  <th scope="col">Who</th>
                  <th scope="col">Begun</th>
                </tr>
              </thead>
              <tbody>
                {data.items.map((work) => (
                  <Row key={work.id} work={work} />
                ))}
              </tbody>
            </table>
          </section>
          <Pager pages={pages} page={data} isTurning={answer.isTurning} />
        </>
      )}
    </>
  );
}

function Row({ work }: { work: WorkView }) {
  const { id, status, done, failed, total, begunBy, begunAt } = work;
  return (
    <tr>
      <th scope="row">
        <Link href={addressOfWork(id)}>{sayWork(work)}</Link>
      </th>
      <td>{sayFilter(work)}</td>
      <td>
        <WorkMark status={status} />
      </td>
      <td>
        <Progress parts={partsOfWork(work)} />
      </td>
      <td className={css.count}>{sayCount(done)}</td>
      <td className={css.count}>{sayCount(failed)}</td>
      <td className={css.count}>{sayCount(total)}</td>
      <td>{begunBy.name}</td>
      <td>
        <Time at={begunAt} />
      </td>
    </tr>
  );
}
