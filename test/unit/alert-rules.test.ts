import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { ALERTS_FILE, readAlerts } from "../support/monitoring/monitoring.ts";
import { promtool } from "../support/monitoring/promtool.ts";
import { ROOT } from "../support/processes/processes.ts";

/** Series by name, each with its samples every 15 s as promtool writes them: `1+2x60` counts up by 2, sixty times. */
type Series = Record<string, string>;

const steady = (value: number): string => `${value}+0x110`;
const growing = (step: number): string => `0+${step}x110`;
/** No manager says it. */
const NEVER = "_x110";

const manager = 'job="observer-manager",instance="m1"';
const successor = 'job="observer-manager",instance="m2"';
const service = 'job="observer-service",instance="s1"';
const ofPool = `{${manager},pool="default"}`;

/** A system in which all is well. */
const WELL: Series = {
  [`up{${manager}}`]: steady(1),
  [`up{${service}}`]: steady(1),
  [`unacked_manager_books_readable{${manager}}`]: steady(1),
  [`unacked_manager_books_part_readable{${manager},part="stats"}`]: steady(1),
  [`unacked_manager_books_part_readable{${manager},part="flows"}`]: steady(1),
  [`unacked_broker_connected{${manager},connection="consume"}`]: steady(1),
  [`unacked_broker_connected{${manager},connection="publish"}`]: steady(1),
  [`unacked_broker_blocked{${manager},connection="publish"}`]: steady(0),
  [`unacked_warnings{${manager},code="broker-cuts-jobs"}`]: steady(0),
  [`unacked_warnings{${manager},code="service-suspect"}`]: steady(0),
  [`unacked_warnings{${manager},code="service-gone"}`]: steady(0),
  [`unacked_warnings{${manager},code="books-blocked"}`]: steady(0),
  [`unacked_warnings{${manager},code="type-not-served"}`]: steady(0),
  [`unacked_warnings{${manager},code="long-snapshot"}`]: steady(0),
  [`unacked_warnings{${manager},code="timers-unheard"}`]: steady(0),
  [`unacked_warnings{${manager},code="observers-silent"}`]: steady(0),
  [`unacked_timers_oldest_due_seconds{${manager}}`]: steady(0.4),
  [`unacked_manager_timers_expired_total{${manager}}`]: steady(7),
  [`process_start_time_seconds{${manager}}`]: steady(-9_999),
  [`unacked_flow_ends_oldest_seconds{${manager}}`]: steady(0.1),
  [`unacked_schedules_oldest_due_seconds{${manager}}`]: steady(0.4),
  [`unacked_services${ofPool}`]: steady(2),
  [`unacked_workers${ofPool}`]: steady(20),
  [`unacked_workers_occupied${ofPool}`]: steady(5),
  [`unacked_workers_free${ofPool}`]: steady(15),
  [`unacked_workers_desired${ofPool}`]: steady(15),
  [`unacked_oldest_waiting_seconds{${manager}}`]: steady(0),
  [`unacked_task_oldest_ready_seconds${ofPool}`]: steady(20),
  [`unacked_task_oldest_untaken_seconds${ofPool}`]: steady(500),
  [`unacked_manager_tasks_ended_total{${manager},status="Failed"}`]: steady(4),
  [`unacked_manager_tasks_ended_total{${manager},status="Completed"}`]: growing(100),
  [`unacked_requests_waiting{${manager}}`]: steady(3),
  [`unacked_manager_requests_total{${manager},user="billing",outcome="done"}`]: growing(1),
  [`unacked_manager_request_replies_undelivered_total{${manager},user="billing"}`]: "0x80 1x30",
  [`unacked_queue_consumers{${manager},queue="unacked.state"}`]: steady(1),
  [`unacked_queue_consumers{${manager},queue="unacked.task-state"}`]: steady(1),
  [`unacked_state_queue_batches{${manager}}`]: steady(3),
  [`unacked_manager_failing_seconds{${manager},queue="unacked.state"}`]: steady(0),
  [`unacked_command_lag_seconds{${manager},kind="start"}`]: steady(0),
  [`unacked_command_oldest_seconds{${manager},kind="stop"}`]: steady(2),
  [`unacked_manager_repairs_total{${manager},kind="sent-again"}`]: steady(4),
  [`unacked_manager_repairs_total{${manager},kind="inventory-asked"}`]: growing(1),
  [`unacked_manager_repairs_total{${manager},kind="sent-elsewhere"}`]: growing(1),
  [`unacked_manager_duplicates_ended_total{${manager},what="run"}`]: steady(1),
  [`unacked_manager_errors_total{${manager},reason="unreadable"}`]: steady(2),
  [`unacked_manager_errors_total{${manager},reason="retries-used-up"}`]: growing(1),
  [`unacked_manager_services_ended_total{${manager},how="gone"}`]: steady(9),
  [`unacked_manager_services_ended_total{${manager},how="stopped"}`]: growing(1),
  [`unacked_manager_runs_ended_total{${manager},reason="failed"}`]: steady(3),
  [`unacked_manager_runs_ended_total{${manager},reason="stopped"}`]: growing(1),
  [`unacked_service_ready{${service}}`]: steady(1),
  [`unacked_service_draining{${service}}`]: steady(0),
  [`unacked_service_cordoned{${service}}`]: steady(0),
  [`unacked_service_fences_total{${service},why="session-lost"}`]: steady(2),
  [`nodejs_eventloop_lag_p99_seconds{${service}}`]: steady(0.101),
  [`unacked_service_slot_deaths_total{${service},reason="culprit"}`]: steady(3),
  [`unacked_service_slot_deaths_total{${service},reason="stop"}`]: growing(1),
  [`unacked_service_slot_deaths_total{${service},reason="recycled"}`]: steady(1),
  [`unacked_service_slot_suspects{${service}}`]: "0x40 4x40 0x30",
  [`unacked_service_slots_stuck_total{${service}}`]: steady(1),
  [`unacked_observers{${manager},status="Processing",type="t"}`]: steady(90),
  [`unacked_observers{${manager},status="Retrying",type="t"}`]: steady(10),
  [`unacked_manager_http_request_duration_seconds_count{${manager},route="/api/v1/observers",status="2xx"}`]: growing(99),
  [`unacked_manager_http_request_duration_seconds_count{${manager},route="/api/v1/observers",status="5xx"}`]: growing(1),
  [`unacked_manager_http_request_duration_seconds_count{${manager},route="/readyz",status="5xx"}`]: growing(99),
  [`unacked_manager_http_request_duration_seconds_count{${manager},route="/healthz",status="2xx"}`]: growing(9),
};

/** What has to change for each alert; what else fires by the same change. */
const CASES: { alert: string; series: Series; also?: string[] }[] = [
  { alert: "UnackedManagerDown", series: { [`up{${manager}}`]: steady(0) } },
  { alert: "UnackedBooksUnreadable", series: { [`unacked_manager_books_readable{${manager}}`]: steady(0) } },
  {
    alert: "UnackedBrokerAway",
    series: { [`unacked_broker_connected{${manager},connection="consume"}`]: steady(0) },
  },
  { alert: "UnackedBrokerBlocks", series: { [`unacked_broker_blocked{${manager},connection="publish"}`]: steady(1) } },
  { alert: "UnackedJobsAreCut", series: { [`unacked_warnings{${manager},code="broker-cuts-jobs"}`]: steady(1) } },
  {
    alert: "UnackedPoolHasNoService",
    series: {
      [`unacked_services{${manager},pool="gpu"}`]: steady(0),
      [`unacked_workers_occupied{${manager},pool="gpu"}`]: steady(1),
      [`unacked_workers_free{${manager},pool="gpu"}`]: steady(0),
    },
  },
  {
    alert: "UnackedStateQueueUnread",
    series: { [`unacked_queue_consumers{${manager},queue="unacked.task-state"}`]: NEVER },
  },
  { alert: "UnackedNoFreeWorker", series: { [`unacked_workers_free${ofPool}`]: steady(0) } },
  { alert: "UnackedWouldNotSurvive", series: { [`unacked_workers_desired${ofPool}`]: steady(21) } },
  { alert: "UnackedObserversWait", series: { [`unacked_oldest_waiting_seconds{${manager}}`]: "0+15x110" } },
  { alert: "UnackedTasksWait", series: { [`unacked_task_oldest_ready_seconds${ofPool}`]: "0+15x110" } },
  { alert: "UnackedTasksUntaken", series: { [`unacked_task_oldest_untaken_seconds${ofPool}`]: "0+15x110" } },
  { alert: "UnackedTasksFail", series: { [`unacked_manager_tasks_ended_total{${manager},status="Failed"}`]: "0x80 11x30" } },
  {
    alert: "UnackedRequestsWait",
    series: {
      [`unacked_requests_waiting{${manager}}`]: steady(3),
      [`unacked_manager_requests_total{${manager},user="billing",outcome="done"}`]: steady(9),
    },
  },
  { alert: "UnackedRequestsLate", series: { [`unacked_requests_waiting{${manager}}`]: steady(1_001) } },
  {
    alert: "UnackedAnswersUndelivered",
    series: { [`unacked_manager_request_replies_undelivered_total{${manager},user="billing"}`]: "0x80 11x30" },
  },
  { alert: "UnackedBooksBehind", series: { [`unacked_state_queue_batches{${manager}}`]: steady(1_001) } },
  {
    alert: "UnackedMessagesFail",
    series: { [`unacked_manager_failing_seconds{${manager},queue="unacked.state"}`]: steady(11) },
  },
  { alert: "UnackedCommandsLate", series: { [`unacked_command_lag_seconds{${manager},kind="start"}`]: "0+15x110" } },
  { alert: "UnackedStopUnanswered", series: { [`unacked_command_oldest_seconds{${manager},kind="stop"}`]: "0+15x110" } },
  {
    alert: "UnackedBooksRepaired",
    series: { [`unacked_manager_repairs_total{${manager},kind="sent-again"}`]: "0x20 5x90" },
  },
  {
    alert: "UnackedDuplicatesEnded",
    series: { [`unacked_manager_duplicates_ended_total{${manager},what="run"}`]: "0x20 1x90" },
  },
  {
    alert: "UnackedMessagesPutAside",
    series: { [`unacked_manager_errors_total{${manager},reason="unreadable"}`]: "0x80 1x30" },
  },
  { alert: "UnackedServiceDown", series: { [`up{${service}}`]: steady(0) } },
  { alert: "UnackedServiceNotReady", series: { [`unacked_service_ready{${service}}`]: steady(0) } },
  { alert: "UnackedFlowsStandStill", series: { [`unacked_flow_ends_oldest_seconds{${manager}}`]: steady(61) } },
  { alert: "UnackedTimersLate", series: { [`unacked_timers_oldest_due_seconds{${manager}}`]: steady(61) } },
  { alert: "UnackedTimersUnheard", series: { [`unacked_warnings{${manager},code="timers-unheard"}`]: steady(1) } },
  { alert: "UnackedTimersExpire", series: { [`unacked_manager_timers_expired_total{${manager}}`]: "0x80 1x30" } },
  { alert: "UnackedObserversSilent", series: { [`unacked_warnings{${manager},code="observers-silent"}`]: steady(1) } },
  { alert: "UnackedSchedulesLate", series: { [`unacked_schedules_oldest_due_seconds{${manager}}`]: steady(61) } },
  { alert: "UnackedTypeNotServed", series: { [`unacked_warnings{${manager},code="type-not-served"}`]: steady(1) } },
  { alert: "UnackedBooksBlocked", series: { [`unacked_warnings{${manager},code="books-blocked"}`]: steady(1) } },
  { alert: "UnackedLongSnapshot", series: { [`unacked_warnings{${manager},code="long-snapshot"}`]: steady(1) } },
  { alert: "UnackedServiceSuspect", series: { [`unacked_warnings{${manager},code="service-suspect"}`]: steady(2) } },
  {
    alert: "UnackedServicesCrash",
    series: { [`unacked_manager_services_ended_total{${manager},how="gone"}`]: "0x80 4x30" },
  },
  {
    alert: "UnackedLeasesLost",
    series: {
      [`unacked_service_fences_total{${service},why="session-lost"}`]: "0x20 2x90",
      [`unacked_service_fences_total{${service},why="deadline-passed"}`]: "0x20 2x90",
    },
  },
  { alert: "UnackedEventLoopBlocked", series: { [`nodejs_eventloop_lag_p99_seconds{${service}}`]: steady(0.8) } },
  {
    alert: "UnackedSlotsDie",
    series: { [`unacked_service_slot_deaths_total{${service},reason="unnamed"}`]: "0x80 5x30" },
  },
  { alert: "UnackedSuspectsRemain", series: { [`unacked_service_slot_suspects{${service}}`]: steady(4) } },
  { alert: "UnackedSlotsStuck", series: { [`unacked_service_slots_stuck_total{${service}}`]: "0x20 3x90" } },
  {
    alert: "UnackedSlotsRecycled",
    series: { [`unacked_service_slot_deaths_total{${service},reason="recycled"}`]: "0x20 5x90" },
  },
  {
    alert: "UnackedObserversFail",
    series: { [`unacked_manager_runs_ended_total{${manager},reason="failed"}`]: "0x80 2x30" },
  },
  {
    alert: "UnackedManyRetrying",
    series: { [`unacked_observers{${manager},status="Retrying",type="t"}`]: steady(30) },
  },
  {
    alert: "UnackedHttpErrors",
    series: {
      [`unacked_manager_http_request_duration_seconds_count{${manager},route="/api/v1/observers",status="5xx"}`]:
        growing(10),
    },
  },
];

/** Within the longest `for` and the shortest window. */
const AFTER = "25m";

describe("the alert rules", { timeout: 240_000 }, () => {
  it("are tried, each of them", () => {
    expect(CASES.map(({ alert }) => alert).sort()).toEqual(
      readAlerts()
        .map(({ alert }) => alert)
        .sort(),
    );
  });

  it.skipIf(promtool === undefined)("fire when what they are for is so, and no other does; none while all is well", () => {
    const outcome = tryRules([
      testOf("all is well", WELL, []),
      testOf("nothing is scraped", {}, ["UnackedManagerDown"]),
      testOf(
        "all managers were away, and the new one's first sample has what happened meanwhile",
        { ...WELL, ...WERE_AWAY },
        [
          "UnackedBooksRepaired",
          "UnackedDuplicatesEnded",
          "UnackedMessagesPutAside",
          "UnackedObserversFail",
          "UnackedServicesCrash",
          "UnackedTasksFail",
          "UnackedTimersExpire",
        ],
      ),
      testOf("services run in another namespace than their managers", APART, []),
      testOf("services are scraped, and no manager is", { [`up{${service}}`]: steady(1) }, ["UnackedManagerDown"]),
      testOf("a long transaction commits a task, which is as old as it", { ...WELL, ...COMMITS_LATE }, []),
      testOf("a service drains", { ...WELL, ...DRAINS }, []),
      testOf("a service is cordoned", { ...WELL, ...IS_CORDONED }, []),
      testOf("the queue of tasks' states is lost, which its consumers are told late", { ...WELL, ...HAS_NO_CONSUMER }, [
        "UnackedStateQueueUnread",
      ]),
      testOf(
        "nobody reads the queue of tasks' states, and flows cannot be read",
        { ...WELL, ...HAS_NO_CONSUMER, ...isUnreadable("flows") },
        ["UnackedBooksUnreadable", "UnackedStateQueueUnread"],
      ),
      testOf(
        "of who reads the state queues nothing can be read",
        { ...WELL, ...HIDES_CONSUMERS, ...isUnreadable("stats") },
        ["UnackedBooksUnreadable"],
      ),
      testOf("a service's process is gone, and with it the address by which it was found", { ...WELL, ...IS_GONE }, [
        "UnackedServiceDown",
      ]),
      testOf(
        "a service's process is gone, and its address is kept",
        { ...WELL, ...IS_GONE, [`up{${service}}`]: steady(0) },
        ["UnackedServiceDown"],
      ),
      testOf("a memory alarm silences every service", { ...WELL, ...IS_BLOCKED }, ["UnackedBrokerBlocks"]),
      testOf("the broker is away", { ...WELL, ...WITHOUT_BROKER }, ["UnackedBrokerAway"], 2),
      testOf("the only caller, who comes seldom, is refused", { ...WELL, ...REFUSES_ITS_ONLY_CALLER }, [
        "UnackedHttpErrors",
      ]),
      ...CASES.map(({ alert, series }) => testOf(alert, { ...WELL, ...series }, [alert])),
    ]);
    expect(outcome).toBe("");
  });

  it.skipIf(promtool === undefined)(
    "fire for the namespace that is ill, though another is well that the same Prometheus sees",
    () => {
      const ofBoth = (name: string, ill: Series, firing: string[]) =>
        testOf(
          name,
          { ...inNamespace("production", ill), ...inNamespace("staging", WELL) },
          firing,
          1,
          ',namespace="production"',
        );
      const outcome = tryRules([
        ofBoth("all is well in both", WELL, []),
        ofBoth("managers are no targets any more", { ...WELL, [`up{${manager}}`]: "1x60 _x50" }, ["UnackedManagerDown"]),
        ofBoth(
          "of who reads the state queues nothing can be read",
          { ...WELL, ...HIDES_CONSUMERS, ...isUnreadable("stats") },
          ["UnackedBooksUnreadable"],
        ),
        ...CASES.map(({ alert, series }) => ofBoth(alert, { ...WELL, ...series }, [alert])),
      ]);
      expect(outcome).toBe("");
    },
  );

  it.skipIf(promtool === undefined)("would be found out if they did not", () => {
    const [first] = CASES;
    expect(tryRules([testOf("wrong", { ...WELL, ...first?.series }, [])])).toContain("UnackedManagerDown");
  });
});

const inNamespace = (namespace: string, series: Series): Series =>
  Object.fromEntries(
    Object.entries(series).map(([each, values]) => [each.replace("{", `{namespace="${namespace}",`), values]),
  );

const APART: Series = {
  [`up{namespace="unacked",${manager}}`]: steady(1),
  [`up{namespace="workers",${service}}`]: steady(1),
};

/** For 20 minutes; what runs then is another process. */
const WERE_AWAY: Series = {
  [`process_start_time_seconds{${successor}}`]: "_x80 1190x30",
  [`unacked_manager_timers_expired_total{${manager}}`]: NEVER,
  [`unacked_manager_timers_expired_total{${successor}}`]: "_x80 3x30",
  [`unacked_manager_runs_ended_total{${successor},reason="failed"}`]: "_x80 1x30",
  [`unacked_manager_errors_total{${successor},reason="unreadable"}`]: "_x80 1x30",
  [`unacked_manager_tasks_ended_total{${successor},status="Failed"}`]: "_x80 11x30",
  [`unacked_manager_services_ended_total{${successor},how="gone"}`]: "_x80 3x30",
  [`unacked_manager_duplicates_ended_total{${successor},what="run"}`]: "_x80 1x30",
  [`unacked_manager_repairs_total{${successor},kind="sent-again"}`]: "_x80 1x30",
};

/** A manager takes it at once. It is at the time at which it is looked. */
const COMMITS_LATE: Series = { [`unacked_task_oldest_ready_seconds${ofPool}`]: "0x97 900x2 0x10" };

const HAS_NO_CONSUMER: Series = { [`unacked_queue_consumers{${manager},queue="unacked.task-state"}`]: steady(0) };

/** Then nobody says who reads the state queues. */
const HIDES_CONSUMERS: Series = {
  [`unacked_queue_consumers{${manager},queue="unacked.state"}`]: NEVER,
  [`unacked_queue_consumers{${manager},queue="unacked.task-state"}`]: NEVER,
};

const WITHOUT_BROKER: Series = {
  [`unacked_broker_connected{${manager},connection="consume"}`]: steady(0),
  [`unacked_broker_connected{${manager},connection="publish"}`]: steady(0),
  ...HIDES_CONSUMERS,
};

const isUnreadable = (part: string): Series => ({
  [`unacked_manager_books_readable{${manager}}`]: steady(0),
  [`unacked_manager_books_part_readable{${manager},part="${part}"}`]: steady(0),
});

/** As Compose's DNS has it: the target is no more. */
const IS_GONE: Series = {
  [`up{${service}}`]: NEVER,
  [`unacked_warnings{${manager},code="service-gone"}`]: steady(1),
};

const IS_BLOCKED: Series = {
  [`unacked_broker_blocked{${manager},connection="publish"}`]: steady(1),
  [`unacked_warnings{${manager},code="service-suspect"}`]: steady(2),
};

const IS_CORDONED: Series = {
  [`unacked_service_ready{${service}}`]: steady(0),
  [`unacked_service_cordoned{${service}}`]: steady(1),
};

/** Two managers' probes, a call a minute, and beside them pages that leave before they are answered. */
const REFUSES_ITS_ONLY_CALLER: Series = {
  [`unacked_manager_http_request_duration_seconds_count{${manager},route="/api/v1/observers",status="2xx"}`]: steady(99),
  [`unacked_manager_http_request_duration_seconds_count{${manager},route="/api/v1/stats",status="left"}`]: growing(9),
  [`unacked_manager_http_request_duration_seconds_count{${manager},route="/api/v1/observers",status="5xx"}`]: growing(0.25),
};

const DRAINS: Series = {
  [`unacked_service_ready{${service}}`]: steady(0),
  [`unacked_service_draining{${service}}`]: steady(1),
};

/**
 * @param count how many of each fire: one, or one a label
 * @param where the labels that they bear besides their name
 */
function testOf(name: string, series: Series, firing: string[], count = 1, where = "") {
  return {
    name,
    interval: "15s",
    input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
    promql_expr_test: [
      {
        expr: 'count by (alertname, namespace) (ALERTS{alertstate="firing"})',
        eval_time: AFTER,
        exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"${where}}`, value: count })),
      },
    ],
  };
}

/** What promtool finds wrong; empty when it finds nothing. */
function tryRules(tests: ReturnType<typeof testOf>[]): string {
  const dir = mkdtempSync(join(tmpdir(), "unacked-rules-"));
  try {
    const file = join(dir, "alerts.test.yml");
    const all = { rule_files: [join(ROOT, ALERTS_FILE)], evaluation_interval: "15s", tests };
    writeFileSync(file, stringify(all));
    const { status, stdout, stderr } = spawnSync(promtool ?? "", ["test", "rules", file], { encoding: "utf8" });
    return status === 0 ? "" : `${stdout}${stderr}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
