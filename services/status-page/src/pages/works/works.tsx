import type { WorkView } from "@unacked/contracts";
import { useList } from "../../live/use-list.ts";
import { Blank } from "../../parts/blank.tsx";
import { Listed } from "../../parts/listed.tsx";
import table from "../../parts/plain-table.module.css";
import { Progress } from "../../parts/progress.tsx";
import { sayCount } from "../../parts/say.ts";
import { WorkMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfWork } from "../../shell/route.ts";
import { partsOfWork, sayFilter, sayWork } from "../../store/work-looks.ts";
import css from "./works.module.css";

const PAGE = 50;

/** What was asked of very many, the newest first. */
export default function Works() {
  const list = useList("listWork", {}, "", { rows: PAGE, mayGrow: false });
  return (
    <>
      <h1>Bulk work</h1>
      <Listed what="Bulk work" list={list} none={<None />}>
        {(works) => <WorkTable works={works} />}
      </Listed>
    </>
  );
}

const None = () => (
  <Blank title="There is none">
    <p>
      Choose all that match a filter among the <Link href="/observers">observers</Link>, and stop, restart, pause or resume
      them.
    </p>
  </Blank>
);

function WorkTable({ works }: { works: readonly WorkView[] }) {
  return (
    // Focusable, as a wide one scrolls.
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
          {works.map((work) => (
            <Row key={work.id} work={work} />
          ))}
        </tbody>
      </table>
    </section>
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
