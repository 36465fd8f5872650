import { lazy } from "react";

const FETCH = {
  overview: () => import("../pages/overview/overview.tsx"),
  observers: () => import("../pages/observers/observers.tsx"),
  observer: () => import("../pages/observer/observer.tsx"),
  editForm: () => import("../pages/observer/edit-form.tsx"),
  tasks: () => import("../pages/tasks/tasks.tsx"),
  task: () => import("../pages/task/task.tsx"),
  flows: () => import("../pages/flows/flows.tsx"),
  flow: () => import("../pages/flow/flow.tsx"),
  schedules: () => import("../pages/schedules/schedules.tsx"),
  schedule: () => import("../pages/schedule/schedule.tsx"),
  timers: () => import("../pages/timers/timers.tsx"),
  works: () => import("../pages/works/works.tsx"),
  work: () => import("../pages/work/work.tsx"),
  services: () => import("../pages/services/services.tsx"),
  audit: () => import("../pages/audit/audit.tsx"),
  errors: () => import("../pages/errors/errors.tsx"),
};

/** Only for those who are asked who they are. */
export const SignIn = lazy(() => import("../pages/sign-in/sign-in.tsx"));

// One file per page: the first load brings only the one that is asked for.
export const Overview = lazy(FETCH.overview);
export const Observers = lazy(FETCH.observers);
export const Observer = lazy(FETCH.observer);
export const Tasks = lazy(FETCH.tasks);
export const Task = lazy(FETCH.task);
export const Flows = lazy(FETCH.flows);
export const Flow = lazy(FETCH.flow);
export const Schedules = lazy(FETCH.schedules);
export const Schedule = lazy(FETCH.schedule);
export const Timers = lazy(FETCH.timers);
export const Works = lazy(FETCH.works);
export const Work = lazy(FETCH.work);
export const Services = lazy(FETCH.services);
export const Audit = lazy(FETCH.audit);
export const Errors = lazy(FETCH.errors);

const AFTER_MS = 1_000;

/** The others follow a little later: when the manager is away, one wants to look about all the same. */
export function fetchAllPages(): () => void {
  const fetchAll = () => {
    for (const fetchPage of Object.values(FETCH)) fetchPage().catch(() => undefined); // the user will hear of it who opens it
  };
  const timer = setTimeout(fetchAll, AFTER_MS);
  return () => clearTimeout(timer);
}
