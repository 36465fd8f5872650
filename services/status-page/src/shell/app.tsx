import { MantineProvider } from "@mantine/core";
import type { SessionView } from "@unacked/contracts";
import { type ReactNode, Suspense, useEffect, useLayoutEffect, useState } from "react";
import { Live } from "../live/live.ts";
import type { Session } from "../live/session.ts";
import { LiveContext, useSignal } from "../live/use-live.ts";
import { SessionContext } from "../live/use-session.ts";
import { Blank, Pending } from "../parts/blank.tsx";
import { ReloadButton } from "../parts/reload-button.tsx";
import type { CallError } from "../wire/call.ts";
import css from "./app.module.css";
import { Crash } from "./crash.tsx";
import { LinkBanner } from "./link-banner.tsx";
import { Masthead, PlainMasthead } from "./masthead.tsx";
import { Link, usePath } from "./navigation.tsx";
import { NoticeBoard, Notices } from "./notices.tsx";
import {
  Audit,
  Errors,
  Flow,
  Flows,
  fetchAllPages,
  Observer,
  Observers,
  Overview,
  Schedule,
  Schedules,
  Services,
  SignIn,
  Task,
  Tasks,
  Timers,
  Work,
  Works,
} from "./pages.ts";
import { type Route, routeOf } from "./route.ts";
import { theme } from "./theme.ts";

/** The page, once it is known who looks; until then, the question. */
export function App({ session }: { session: Session }) {
  useSignal(session.changed);
  const { state } = session;
  return (
    // The variables stand in style/mantine.css: a style tag would break the Content-Security-Policy.
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      {state.phase === "in" ? (
        <SessionContext value={{ who: state.who, signOut: () => session.signOut() }}>
          <SignedIn key={identityOf(state.who)} identity={identityOf(state.who)} />
        </SessionContext>
      ) : (
        <Outside>
          {state.phase === "asking" ? (
            <Asking failure={state.failure} />
          ) : (
            <SignIn hasEnded={state.ended} onSignIn={(token) => session.signIn(token)} />
          )}
        </Outside>
      )}
    </MantineProvider>
  );
}

const identityOf = ({ authentication, name, role }: SessionView): string => `${authentication} ${role} ${name}`;

/** What there is for everybody: the name, the colours, and a way in. */
function Outside({ children }: { children: ReactNode }) {
  useTitle("Sign in");
  return (
    <>
      <PlainMasthead />
      <main id="main" tabIndex={-1} className={css.main}>
        <Crash>
          <Suspense fallback={<Pending label="Loading the page" height="60vh" />}>{children}</Suspense>
        </Crash>
      </main>
    </>
  );
}

function Asking({ failure }: { failure: CallError | null }) {
  if (failure === null) return <Pending label="Asking the manager who you are" height="60vh" />;
  return (
    <div role="status">
      <Blank title="The manager cannot say who you are">
        <p>
          {failure.message}. {failure.remedy} It is asked again every 2 seconds.
        </p>
        {failure.isOfProxy && <ReloadButton />}
      </Blank>
    </div>
  );
}

/** Everything that moves begins with the sign-in, and ends with it. */
function SignedIn({ identity }: { identity: string }) {
  const [live] = useState(() => new Live(identity));
  // Before the page is painted: its lists are on their way meanwhile.
  useLayoutEffect(() => {
    live.start();
    return () => live.stop();
  }, [live]);
  const path = usePath();
  const route = routeOf(path);
  useTitle(nameOf(route));
  useEffect(fetchAllPages, []);
  return (
    <LiveContext value={live}>
      <Notices>
        <a className={css.skip} href="#main">
          Skip to the page
        </a>
        <Masthead route={route} />
        <main id="main" tabIndex={-1} className={css.main} data-page={route.page}>
          <LinkBanner />
          <Crash key={route.page}>
            <Suspense fallback={<Pending label="Loading the page" height="60vh" />}>
              <Page route={route} />
            </Suspense>
          </Crash>
        </main>
        <NoticeBoard />
      </Notices>
    </LiveContext>
  );
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case "overview":
      return <Overview />;
    case "observers":
      return <Observers />;
    case "observer":
      return <Observer key={route.ref} reference={route.ref} />;
    case "tasks":
      return <Tasks />;
    case "task":
      return <Task key={route.id} id={route.id} />;
    case "flows":
      return <Flows />;
    case "flow":
      return <Flow key={route.id} id={route.id} />;
    case "schedules":
      return <Schedules />;
    case "schedule":
      return <Schedule key={route.id} id={route.id} />;
    case "timers":
      return <Timers />;
    case "works":
      return <Works />;
    case "work":
      return <Work key={route.id} id={route.id} />;
    case "services":
      return <Services />;
    case "errors":
      return <Errors />;
    case "audit":
      return <Audit />;
    case "nowhere":
      return (
        <Blank title="There is no such page">
          <p>
            <Link href="/">To the overview</Link>
          </p>
        </Blank>
      );
    default:
      return route satisfies never;
  }
}

const nameOf = (route: Route): string =>
  route.page === "observer"
    ? route.ref
    : route.page === "works"
      ? "Bulk work"
      : `${route.page[0]?.toUpperCase()}${route.page.slice(1)}`;

function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · Unacked`;
  }, [name]);
}
