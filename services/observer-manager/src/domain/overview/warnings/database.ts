import type { Warning } from "@unacked/contracts";
import type { BooksBlocker, DatabaseSession, LongSnapshot } from "../facts.ts";

export function booksBlocked({ openForS, waiting, ...by }: BooksBlocker): Warning {
  const wait = `${waiting} ${waiting === 1 ? "session" : "sessions"} of the managers`;
  const meanwhile = "The books stand still where they need the same rows; nothing is lost, and it goes on by itself.";
  if (by.pid === 0)
    return {
      code: "books-blocked",
      subject: "prepared transaction",
      message: `A prepared transaction holds locks that ${wait} wait for. ${meanwhile}`,
      remedy: "SELECT gid, prepared, owner FROM pg_prepared_xacts shows it: COMMIT PREPARED or ROLLBACK PREPARED ends it.",
    };
  return {
    code: "books-blocked",
    subject: `pid ${by.pid}`,
    message: `${session(by)} has had a transaction open for ${Math.floor(openForS)} s, and holds locks that ${wait} wait for. ${meanwhile}`,
    remedy: `Let it end, or end it: SELECT pg_terminate_backend(${by.pid}). Only the managers should write to these tables; idle_in_transaction_session_timeout ends forgotten transactions.`,
  };
}

export const longSnapshot = ({ openForS, ...by }: LongSnapshot): Warning => ({
  code: "long-snapshot",
  subject: `pid ${by.pid}`,
  message: `${session(by)} has had a transaction open for ${Math.floor(openForS / 60)} min: until it ends PostgreSQL cannot clean up what tasks and timers leave behind, and each look at what waits takes longer.`,
  remedy: `Let it end, or end it: SELECT pg_terminate_backend(${by.pid}). Back up with pg_basebackup, or from a standby; and let idle_in_transaction_session_timeout end forgotten transactions.`,
});

const session = ({ pid, user, application }: DatabaseSession): string =>
  `${application === "" ? "A program without a name" : application} (user ${user}, pid ${pid} of PostgreSQL)`;
