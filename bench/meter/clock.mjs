/** CLOCK_MONOTONIC in ms: the same for all processes of the machine, so that one process's time can be held against another's. */
export const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
