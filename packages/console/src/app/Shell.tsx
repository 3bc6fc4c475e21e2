/** The frame of every page: side bar, top bar, and the page itself. */
import type { WorkSummary } from '@measurement-exchange/contract';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useContext, useEffect, useRef } from 'react';
import { count } from '../format.ts';
import { useSummary, useSummaryAgain } from '../live/useSummary.ts';
import type { Page } from '../pages/page.ts';
import { A } from '../parts/A.tsx';
import { Icon } from '../parts/Icon.tsx';
import { PublishersProvider } from '../parts/Publisher.tsx';
import { idOf, ROLE_WORDS } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { Brand } from './Brand.tsx';
import { FindButton } from './Find.tsx';
import { LiveState } from './LiveState.tsx';
import { PartySwitch, SwitchContext } from './PartySwitch.tsx';
import { PAGES } from './pages.ts';
import { openShortcuts, Shortcuts } from './Shortcuts.tsx';
import { ThemeButton } from './theme.tsx';

export function Shell() {
  useSummaryAgain();
  const { pathname } = useLocation();
  const menu = useRef<HTMLDetailsElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever the page changes
  useEffect(() => {
    if (menu.current) menu.current.open = false;
  }, [pathname]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className="app">
        <aside className="side">
          <div className="side-in">
            <Brand />
            <PartySwitch />
            <Navigation />
            <Foot />
          </div>
        </aside>
        <div>
          <header className="top">
            <details className="menu" ref={menu}>
              <summary className="btn icon" aria-label="Menu">
                <Icon name="menu" />
              </summary>
              <div className="sheet">
                <PartySwitch />
                <Navigation />
                <Foot />
              </div>
            </details>
            <FindButton />
            <span className="sp" />
            <LiveState />
            <ThemeButton />
          </header>
          <main className="page" id="main" tabIndex={-1}>
            <PublishersProvider>
              <Outlet />
            </PublishersProvider>
          </main>
        </div>
      </div>
      <Shortcuts />
    </>
  );
}

function Navigation() {
  const { data: summary } = useSummary();
  const { role } = useSession();
  const { pathname } = useLocation();
  const pages = PAGES.filter(({ nav, roles }) => nav && roles.includes(role));
  const { under } = PAGES.find((page) => page.under && isAt(page, pathname)) ?? {};
  const isCurrent = (page: Page) => isAt(page, under ?? pathname);
  return (['main', 'more'] as const).map((group) => (
    <nav key={group} className="nav" aria-label={group === 'main' ? 'Main' : 'More'}>
      {pages
        .filter(({ nav }) => nav!.group === group)
        .map((page) => (
          <A key={page.path} to={page.path} {...(isCurrent(page) && { 'aria-current': 'page' })}>
            <Icon name={page.nav!.icon} />
            {page.nav!.label}
            {page.nav!.work && <OpenWork work={summary?.[page.nav!.work]} />}
          </A>
        ))}
    </nav>
  ));
}

/** Shows the number of open work items, such as `3` or `1,000+`. Shows nothing if no item is open. */
function OpenWork({ work }: { work: WorkSummary | undefined }) {
  const ages = Object.values(work?.openByAge ?? {});
  const open = ages.reduce((sum, each) => sum + each.count, 0);
  if (open === 0) return null;
  return (
    <span className="n">
      {count(open)}
      {ages.some(({ more }) => more) && '+'}
      <span className="sr"> open</span>
    </span>
  );
}

/**
 * Returns whether `pathname` starts with the page's path. Only the part of the page's path before the first parameter,
 * such as `$id`, is compared. The path `/` matches only itself.
 */
function isAt({ path }: Page, pathname: string): boolean {
  return path === '/' ? pathname === '/' : pathname.startsWith(path.replace(/\/\$.*$/, ''));
}

function Foot() {
  const { servedBy, companion, principal, role } = useSession();
  const { signOut } = useContext(SwitchContext);
  const keys =
    servedBy.by === 'mex console' ? 'Keys stay on this computer' : companion ? 'Demo keys' : 'No keys here';
  const where = role === 'operator' ? 'Counts only, no content' : keys;
  return (
    <div className="foot">
      <span title={`${ROLE_WORDS[role]} ${idOf(principal)}`}>
        <Icon name="lock" /> {where}
      </span>
      <span>
        <a href="/docs">API</a> ·{' '}
        <button type="button" className="bare" onClick={openShortcuts}>
          <kbd>?</kbd> Shortcuts
        </button>
        {signOut && (
          <>
            {' · '}
            <button type="button" className="bare" onClick={signOut}>
              Sign out
            </button>
          </>
        )}
      </span>
    </div>
  );
}
