import type { FlowView } from "@unacked/contracts";
import table from "../../parts/plain-table.module.css";
import { Progress } from "../../parts/progress.tsx";
import { sayCount, sayDuration } from "../../parts/say.ts";
import { FlowMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfFlow } from "../../shell/route.ts";
import { flowMs, partsOf, sayProgress } from "../../store/flow-looks.ts";
import { shortId } from "../../store/task-looks.ts";
import css from "./flows.module.css";

export function FlowTable({ flows, nowMs }: { flows: readonly FlowView[]; nowMs: number }) {
  return (
    // Focusable, as a wide one scrolls.
    <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Flows">
      <table className={`${table.table} ${table.lined} ${css.table}`}>
        <thead>
          <tr>
            <th scope="col">Flow</th>
            <th scope="col">Status</th>
            <th scope="col" colSpan={2}>
              Done
            </th>
            <th scope="col">Created</th>
            <th scope="col">Took</th>
            <th scope="col">Run</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {flows.map((flow) => (
            <FlowRow key={flow.id} flow={flow} nowMs={nowMs} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function FlowRow({ flow, nowMs }: { flow: FlowView; nowMs: number }) {
  const { id, name, createdAt, run, reason } = flow;
  const tookMs = flowMs(flow, nowMs);
  return (
    <tr>
      <th scope="row">
        <Link href={addressOfFlow(id)} title={id}>
          {name === null ? <code>{shortId(id)}</code> : name}
        </Link>
      </th>
      <td>
        <FlowMark flow={flow} />
      </td>
      <td className={css.bar}>
        <Progress parts={partsOf(flow)} />
      </td>
      <td>{sayProgress(flow)}</td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>{tookMs === null ? "–" : sayDuration(tookMs)}</td>
      <td>{sayCount(run)}</td>
      <td className={css.why}>{reason ?? ""}</td>
    </tr>
  );
}
