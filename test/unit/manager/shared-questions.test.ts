import { type LogReply, newObserverId, newRunId, newServiceId } from "@unacked/contracts";
import { expect, test } from "vitest";
import type { LogAnswer, LogQuestion } from "../../../services/observer-manager/src/operations/logs/log-source.ts";
import { SharedQuestions } from "../../../services/observer-manager/src/operations/logs/shared-questions.ts";

const RUN = { serviceId: newServiceId(), generation: 1, observerId: newObserverId(), runId: newRunId() };

/** A service whose run has said ten lines. */
function service(answer?: LogAnswer) {
  const asked: LogQuestion[] = [];
  const ask = async (question: LogQuestion): Promise<LogAnswer> => {
    asked.push(question);
    const { afterSeq, limit, runId, serviceId } = question;
    const later = Array.from({ length: 10 - afterSeq }, (_, i) => afterSeq + i + 1);
    const entries = later.slice(Math.max(0, later.length - limit)).map((seq) => ({ seq, at: 0, message: "m", cut: false }));
    const reply = { kind: "LogReply", requestId: runId, serviceId, runId, state: "running", lastSeq: 10, entries } as const;
    return answer ?? reply;
  };
  return { asked, questions: new SharedQuestions({ ask }) };
}

const seqsOf = (answer: LogAnswer): number[] => (answer as LogReply).entries.map(({ seq }) => seq);

test("what many ask of one run is asked once, and each gets what it asked for", async () => {
  const { asked, questions } = service();
  const ask = (afterSeq: number, limit: number) => questions.ask({ ...RUN, afterSeq, limit });
  const answers = await Promise.all([ask(8, 1_000), ask(0, 3), ask(0, 0), ask(4, 1_000), ask(10, 1_000)]);
  expect(asked).toHaveLength(1);
  expect(answers.map(seqsOf)).toEqual([[9, 10], [8, 9, 10], [], [5, 6, 7, 8, 9, 10], []]);
});

test("what is asked alone is asked as it is", async () => {
  const { asked, questions } = service();
  await questions.ask({ ...RUN, afterSeq: 0, limit: 2 });
  expect(asked).toEqual([{ ...RUN, afterSeq: 0, limit: 2 }]);
});

test("those who come while it is asked are asked for together, next", async () => {
  const { asked, questions } = service();
  const first = questions.ask({ ...RUN, afterSeq: 9, limit: 1_000 });
  await first;
  const others = await Promise.all([1, 2, 3].map((afterSeq) => questions.ask({ ...RUN, afterSeq, limit: 1_000 })));
  expect(asked.map(({ afterSeq }) => afterSeq)).toEqual([9, 1]);
  expect(others.map((answer) => seqsOf(answer).length)).toEqual([9, 8, 7]);
});

test("runs are asked each for itself, and what is no answer is everybody's", async () => {
  const { asked, questions } = service("no-answer");
  const other = { ...RUN, runId: newRunId() };
  const answers = await Promise.all([RUN, RUN, other].map((run) => questions.ask({ ...run, afterSeq: 0, limit: 1 })));
  expect(answers).toEqual(["no-answer", "no-answer", "no-answer"]);
  expect(asked).toHaveLength(2);
});
