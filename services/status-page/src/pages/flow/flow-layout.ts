import { Graph, layout } from "@dagrejs/dagre";
import type { FlowGraph, FlowNode } from "../../store/flow-graph.ts";

export const NODE_WIDTH = 168;
export const NODE_HEIGHT = 44;
const MARGIN = 8;

export interface FlowDrawing {
  width: number;
  height: number;
  /** x, y: of the upper left corner. */
  nodes: { node: FlowNode; x: number; y: number }[];
  edges: { key: string; path: string }[];
}

interface Point {
  x: number;
  y: number;
}

/** dagre keeps what it is given in plain objects, which have a `constructor` already: a ref may be that. */
const keyOf = (id: string): string => `:${id}`;

/** Where each stands: what comes first on the left. In pixels. */
export function drawingOf({ nodes, edges }: FlowGraph): FlowDrawing {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 46, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(keyOf(id), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) graph.setEdge(keyOf(from), keyOf(to));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(keyOf(node.id)) as Point;
      return { node, x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 };
    }),
    edges: edges.map(({ from, to }) => {
      const { points = [] } = graph.edge(keyOf(from), keyOf(to)) as { points?: Point[] };
      const [start, end] = [graph.node(keyOf(from)), graph.node(keyOf(to))] as [Point, Point];
      return { key: `${from}\n${to}`, path: pathOf(rightOf(start), betweenOf(points), leftOf(end)) };
    }),
  };
}

const at = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** Between neighbours there is only one, which says nothing. */
const betweenOf = (points: readonly Point[]): readonly Point[] => (points.length <= 3 ? [] : points.slice(1, -1));

const rightOf = ({ x, y }: Point): Point => ({ x: x + NODE_WIDTH / 2, y });
const leftOf = ({ x, y }: Point): Point => ({ x: x - NODE_WIDTH / 2, y });

/** From one side to the other, level where it begins and ends, past other nodes by the points between. */
function pathOf(start: Point, between: readonly Point[], end: Point): string {
  let from = start;
  const curves: string[] = [];
  for (const to of [...between.filter(({ x }) => x > start.x && x < end.x), end]) {
    const x = (from.x + to.x) / 2;
    curves.push(`C ${at({ x, y: from.y })} ${at({ x, y: to.y })} ${at(to)}`);
    from = to;
  }
  return `M ${at(start)} ${curves.join(" ")}`;
}
