import type { FlowTaskView } from "@unacked/contracts";
import { useMemo } from "react";
import { sayMany } from "../../parts/say.ts";
import { Link } from "../../shell/navigation.tsx";
import { addressOfTask } from "../../shell/route.ts";
import { doneOf, type FlowGraph, type FlowNode, graphOf, sayCounts, toneOf } from "../../store/flow-graph.ts";
import { TASK_LOOKS } from "../../store/task-looks.ts";
import { drawingOf, NODE_HEIGHT, NODE_WIDTH } from "./flow-layout.ts";
import css from "./flow-picture.module.css";

const LONGEST = 20;
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/** What waits for what, the first on the left; each leads to its task. The same stands in the table below. */
export function FlowPicture({ tasks }: { tasks: readonly FlowTaskView[] }) {
  const graph = useMemo(() => graphOf(tasks), [tasks]);
  if (graph.isDrawable) return <Picture graph={graph} count={tasks.length} />;
  return (
    <p className={css.note}>This flow has too many links for a picture; the table below says what each task comes after.</p>
  );
}

function Picture({ graph, count }: { graph: FlowGraph; count: number }) {
  // Where it stands depends on its form alone, which stays while statuses change.
  const form = JSON.stringify([graph.nodes.map(({ id }) => id), graph.edges]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as said
  const drawing = useMemo(() => drawingOf(graph), [form]);
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  return (
    <section aria-labelledby="picture" className={css.section}>
      <h2 id="picture">What waits for what</h2>
      {graph.isGrouped && (
        <p className={css.note}>{sayMany(count, "task")}: those of one type that come as late are drawn as one.</p>
      )}
      {/* Focusable, as a wide one scrolls. */}
      <div className={`panel ${css.panel}`} tabIndex={0} role="group" aria-label="The flow as a picture">
        <svg width={drawing.width} height={drawing.height} viewBox={`0 0 ${drawing.width} ${drawing.height}`}>
          <title>The flow as a picture</title>
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 L8 4 L0 8 z" className={css.tip} />
            </marker>
          </defs>
          {drawing.edges.map(({ key, path }) => (
            <path key={key} d={path} className={css.edge} markerEnd="url(#arrow)" />
          ))}
          {drawing.nodes.map(({ node: { id }, x, y }) => {
            const node = nodes.get(id);
            return node === undefined ? null : (
              <g key={id} transform={`translate(${x} ${y})`}>
                <Node node={node} />
              </g>
            );
          })}
        </svg>
      </div>
    </section>
  );
}

function Node({ node }: { node: FlowNode }) {
  const { task } = node;
  if (task === null)
    return (
      <g className={css.node} data-tone={node.tone}>
        <Box node={node} />
      </g>
    );
  return (
    <Link
      href={addressOfTask(task.taskId)}
      className={css.node}
      data-tone={node.tone}
      aria-label={`${task.ref}, ${task.type}: ${task.status}`}
    >
      <Box node={node} />
    </Link>
  );
}

function Box({ node }: { node: FlowNode }) {
  const { title, type, task, counts } = node;
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const said = sayCounts(node);
  const below = task === null ? `${doneOf(node)} of ${all} over` : type === title ? task.status : type;
  const sign = task === null ? "≡" : TASK_LOOKS[task.status].sign;
  return (
    <>
      <title>{`${title}: ${said}`}</title>
      <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx={5} className={css.box} />
      <text x={12} y={19} className={css.sign} aria-hidden="true">
        {sign}
      </text>
      <text x={30} y={19} className={css.name}>
        {cut(title)}
      </text>
      <text x={30} y={34} className={css.type}>
        {cut(below)}
      </text>
      {task === null && <Shares counts={counts} all={all} />}
    </>
  );
}

/** Along the lower edge: how many are in which status. */
function Shares({ counts, all }: { counts: FlowNode["counts"]; all: number }) {
  let from = 0;
  return counts.map(({ status, count }) => {
    const x = from;
    const width = (count / all) * (NODE_WIDTH - 4);
    from += width;
    return <rect key={status} data-share={toneOf(status)} x={2 + x} y={NODE_HEIGHT - 5} width={width} height={3} />;
  });
}
