/**
 * The numbers (xid) of running transactions of other databases of the server, which cannot write these books. None changes its database, so one
 * that is seen there is there for good; one that has just ended is not seen. Needs no rights.
 */
export const ELSEWHERE = `
  SELECT backend_xid AS xid FROM pg_stat_activity WHERE datname <> current_database() AND backend_xid IS NOT NULL
  UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE "database" <> current_database()`;
