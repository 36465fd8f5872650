import { MantineProvider } from "@mantine/core";
import { Suspense, useEffect } from "react";
import type { Live } from "../live/live.ts";
import { LiveContext } from "../live/use-live.ts";
import { Blank, Pending } from "../parts/blank.tsx";
import css from "./app.module.css";
import { Crash } from "./crash.tsx";
import { LinkBanner } from "./link-banner.tsx";
import { Masthead } from "./masthead.tsx";
import { Link, usePath } from "./navigation.tsx";
import { NoticeBoard, Notices } from "./notices.tsx";
import { Errors, fetchAllPages, Observer, Observers, Overview, Services } from "./pages.ts";
import { type Route, routeOf } from "./route.ts";
import { theme } from "./theme.ts";

export function App({ live }: { live: Live }) {
  const route = routeOf(usePath());
  useTitle(route);
  useEffect(fetchAllPages, []);
  return (
    // The variables stand in style/mantine.css: a style tag would break the Content-Security-Policy.
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
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
    </MantineProvider>
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
    case "services":
      return <Services />;
    case "errors":
      return <Errors />;
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

function useTitle(route: Route): void {
  const name = route.page === "observer" ? route.ref : `${route.page[0]?.toUpperCase()}${route.page.slice(1)}`;
  useEffect(() => {
    document.title = `${name} · Unacked`;
  }, [name]);
}
