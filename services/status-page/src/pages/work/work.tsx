import type { WorkView } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { Blank } from "../../parts/blank.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { PageActions, PageHead } from "../../parts/page-head.tsx";
import { Progress } from "../../parts/progress.tsx";
import { sayCount, sayDuration, sayMany } from "../../parts/say.ts";
import { WorkMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { Link } from "../../shell/navigation.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { writeFilter } from "../../store/list-filter.ts";
import { listOfWork, partsOfWork, sayFilter, sayWork, WORK_LOOKS } from "../../store/work-looks.ts";
import { call } from "../../wire/call.ts";
import { Reasons } from "./reasons.tsx";
import css from "./work.module.css";

const LOOK_EVERY_MS = 1_000;

/** What is asked of very many: how far it is, and who asked. The same in every tab, as it is done by the managers. */
export default function Work({ id }: { id: string }) {
  const [isOver, setOver] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const { data: work, failure, reload } = useAnswer("getWork", { path: { workId: id } }, isOver ? "over" : nowMs);
  if (work !== null && (work.status !== "Running") !== isOver) setOver(work.status !== "Running");
  if (failure?.code === "work-not-found")
    return (
      <>
        <h1>Bulk work</h1>
        <Blank title="There is no such work">
          <p>It never was, or it ended so long ago that it is forgotten.</p>
          <p>
            <Link href="/work">To all bulk work</Link>
          </p>
        </Blank>
      </>
    );
  if (work === null) return <Unanswered what="The work" height="20rem" failure={failure} onRetry={reload} />;
  return (
    <>
      <PageHead>
        <h1>{sayWork(work)}</h1>
        <WorkMark status={work.status} />
        {work.status === "Running" && (
          <PageActions>
            <ActionButton call="cancelWork" variant="default" size="compact-md" onClick={() => setAsking(true)}>
              Cancel the rest
            </ActionButton>
          </PageActions>
        )}
      </PageHead>
      <Facts facts={factsOf(work)} />
      {work.refused.length > 0 && <Reasons refused={work.refused} />}
      {isAsking && (
        <CancelDialog
          work={work}
          onClose={() => {
            setAsking(false);
            reload();
          }}
        />
      )}
    </>
  );
}

function CancelDialog({ work, onClose }: { work: WorkView; onClose: () => void }) {
  const { say } = useNotices();
  const cancel = async () => {
    const { leftAlone } = await call("cancelWork", { path: { workId: work.id } });
    say("done", `Cancelled; ${sayMany(leftAlone, "observer")} left alone.`);
    onClose();
  };
  return (
    <ConfirmDialog title="Cancel the rest?" verb="Cancel the rest" isDangerous onConfirm={cancel} onClose={onClose}>
      <p>What was done stays done; the others are left as they are.</p>
    </ConfirmDialog>
  );
}

function factsOf(work: WorkView): Fact[] {
  const { status, total, done, failed, remaining, leftAlone, msLeft, begunBy, begunAt, endedAt, cancelledBy } = work;
  const isRunning = status === "Running";
  return [
    [
      "Status",
      // Read out when it changes, and not how far it is, each second.
      <span key="status" role="status">
        {status}: {WORK_LOOKS[status].meaning}
      </span>,
    ],
    [
      "Done",
      <div key="done" className={`${css.done} figures`}>
        <Progress parts={partsOfWork(work)} />
        <span>
          {sayCount(done)} of {sayCount(total)}
          {failed > 0 && `, ${sayCount(failed)} failed`}
        </span>
      </div>,
    ],
    ...(work.waitsFor === null ? [] : [["Waits", work.waitsFor] satisfies Fact]),
    isRunning
      ? ["Remaining", `${sayCount(remaining)}${msLeft === null ? "" : `, about ${sayDuration(msLeft)}`}`]
      : ["Left alone", `${sayCount(leftAlone)}${leftAlone > 0 && status === "Done" ? ": they no longer matched" : ""}`],
    [
      "Which",
      <Link key="which" href={`/observers${writeFilter(listOfWork(work))}`}>
        {sayFilter(work)}
      </Link>,
    ],
    ...(work.act === "resume" && work.whenFull === "queue"
      ? [["Where no worker is free", "they wait for one"] satisfies Fact]
      : []),
    ["Begun by", `${begunBy.name} (${begunBy.role})`],
    ["Begun", <Time key="begun" at={begunAt} isExact />],
    ...(endedAt === null ? [] : [["Ended", <Time key="ended" at={endedAt} isExact />] satisfies Fact]),
    ...(endedAt === null ? [] : [["Took", sayDuration(Date.parse(endedAt) - Date.parse(begunAt))] satisfies Fact]),
    ...(cancelledBy === null ? [] : [["Cancelled by", cancelledBy] satisfies Fact]),
    ["Id", <code key="id">{work.id}</code>],
  ];
}
