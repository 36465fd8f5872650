import { type MantineColorScheme, useMantineColorScheme } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useLive, useSignal } from "../live/use-live.ts";
import { useSession, useWhyNot } from "../live/use-session.ts";
import { sayCount } from "../parts/say.ts";
import { sayFailure } from "../wire/say-failure.ts";
import css from "./masthead.module.css";
import { Link, toBrowser } from "./navigation.tsx";
import { useNotices } from "./notices.tsx";
import type { Route } from "./route.ts";

const PAGES = [
  { page: "overview", href: "/", name: "Overview" },
  { page: "observers", href: "/observers", name: "Observers" },
  { page: "tasks", href: "/tasks", name: "Tasks" },
  { page: "flows", href: "/flows", name: "Flows" },
  { page: "schedules", href: "/schedules", name: "Schedules" },
  { page: "timers", href: "/timers", name: "Timers" },
  { page: "services", href: "/services", name: "Services" },
  { page: "errors", href: "/errors", name: "Errors" },
  { page: "audit", href: "/audit", name: "Audit" },
] as const;

export function Masthead({ route }: { route: Route }) {
  const { page } = route;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => keepInSight(nav.current, "[aria-current]"), [page]);
  const mayAudit = useWhyNot("listAudit") === null;
  // Who may not read the trail need not be led there.
  const pages = PAGES.filter((each) => each.page !== "audit" || mayAudit);
  return (
    <header className={css.masthead}>
      <Name />
      <nav ref={nav} aria-label="Pages" className={css.pages}>
        {pages.map((each) => (
          <Link
            key={each.page}
            href={each.href}
            className={css.page}
            aria-current={each.page === page || each.page === `${page}s` ? "page" : undefined}
          >
            {each.name}
            {each.page === "overview" && <WarningCount />}
          </Link>
        ))}
      </nav>
      <LinkState />
      <a href={toBrowser("/api/docs")} className={css.api}>
        API
      </a>
      <Who />
      <ColorSchemeButton />
    </header>
  );
}

/** Where not all fits, also when the width changes. */
function keepInSight(box: HTMLElement | null, selector: string): (() => void) | undefined {
  const element = box?.querySelector<HTMLElement>(selector);
  if (!box || !element) return undefined;
  // Not by scrollIntoView: Chrome's Tab would go on from there, past the link to the page.
  const watch = new ResizeObserver(() => {
    box.scrollLeft = element.offsetLeft - box.offsetLeft - (box.clientWidth - element.offsetWidth) / 2;
  });
  watch.observe(box);
  return () => watch.disconnect();
}

/** For those who are not known yet: nothing that leads anywhere. */
export function PlainMasthead() {
  return (
    <header className={css.masthead} data-plain>
      <Name />
      <ColorSchemeButton />
    </header>
  );
}

function Name() {
  return (
    <Link href="/" className={css.name}>
      <img src={toBrowser("/icon.svg")} alt="" width={20} height={20} />
      Unacked
    </Link>
  );
}

/** Who is signed in, and as what. Nothing where nobody is asked. */
function Who() {
  const { who, signOut } = useSession();
  const [isBusy, setBusy] = useState(false);
  const { say } = useNotices();
  if (who.authentication === "anonymous") return null;
  const leave = () => {
    setBusy(true);
    signOut().catch((error: unknown) => {
      setBusy(false);
      say("refused", `You are still signed in: ${sayFailure(error)}`);
    });
  };
  return (
    <div className={css.who}>
      <p className={css.person} title={`${who.name}, ${who.role}`}>
        <span className={css.personName}>{who.name}</span> <span className={css.role}>{who.role}</span>
      </p>
      <button type="button" className={css.leave} aria-disabled={isBusy} onClick={isBusy ? undefined : leave}>
        Sign out
      </button>
    </div>
  );
}

/** Seen from every page: something is wrong, and the overview says what. Its room is kept when nothing is. */
function WarningCount() {
  const { stats } = useLive();
  useSignal(stats.changed);
  const count = stats.stats?.warnings.length ?? 0;
  return (
    <span className={css.warnings} hidden={count === 0}>
      {sayCount(count)}
      <span className="unseen"> {count === 1 ? "warning" : "warnings"}</span>
    </span>
  );
}

const LINK_TEXTS = { connecting: "connecting", loading: "loading", live: "live", lost: "not connected" };

/** "live" only where what is shown is the present, and whole. */
function LinkState() {
  const live = useLive();
  useSignal(live.linkChanged);
  useSignal(live.observers.changed);
  const phase = live.link.phase === "live" && live.observers.isBehind ? "loading" : live.link.phase;
  return (
    <p className={css.link} data-phase={phase} role="status">
      {LINK_TEXTS[phase]}
    </p>
  );
}

const NEXT_SCHEME: Record<MantineColorScheme, MantineColorScheme> = { auto: "light", light: "dark", dark: "auto" };
const SCHEME_SIGNS: Record<MantineColorScheme, string> = { auto: "◐", light: "○", dark: "●" };

function ColorSchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = colorScheme === "auto" ? "as the system" : colorScheme;
  return (
    <button
      type="button"
      className={css.scheme}
      aria-label={`Colours: ${name}`}
      title={`Colours: ${name}`}
      onClick={() => setColorScheme(NEXT_SCHEME[colorScheme])}
    >
      <span aria-hidden="true">{SCHEME_SIGNS[colorScheme]}</span>
    </button>
  );
}
