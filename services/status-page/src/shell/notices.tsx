import { CloseButton } from "@mantine/core";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { type Notice, withNotice } from "../store/notice-board.ts";
import css from "./notices.module.css";

interface Board {
  notices: Notice[];
  say(tone: Notice["tone"], text: string): void;
  dismiss(id: number): void;
}

const BoardContext = createContext<Board | null>(null);
const DONE_STAYS_MS = 6_000;
let lastId = 0;

/** What became of what somebody did. What went well goes away by itself, what did not stays until it is dismissed. */
export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<Notice[]>([]);
  const dismiss = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), []);
  const say = useCallback(
    (tone: Notice["tone"], text: string) => {
      const id = ++lastId;
      setNotices((all) => withNotice(all, { id, tone, text }));
      if (tone === "done") setTimeout(() => dismiss(id), DONE_STAYS_MS);
    },
    [dismiss],
  );
  const board = useMemo(() => ({ notices, say, dismiss }), [notices, say, dismiss]);
  return <BoardContext value={board}>{children}</BoardContext>;
}

export function useNotices(): Pick<Board, "say"> {
  const board = useContext(BoardContext);
  if (board === null) throw new Error("useNotices stands outside of Notices");
  return board;
}

export function NoticeBoard() {
  const board = useContext(BoardContext);
  return (
    <div className={css.board} role="log" aria-label="What was done">
      {board?.notices.map(({ id, tone, text }) => (
        <div key={id} className={css.notice} data-tone={tone}>
          <span>{text}</span>
          <CloseButton size="sm" aria-label="Dismiss" onClick={() => board.dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
