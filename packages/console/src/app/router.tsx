/** The router. It has one route for each page of the caller's role. */
import { createLazyRoute, createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Skeleton } from '../parts/states.tsx';
import type { Role } from '../session/roles.ts';
import { NotFound } from './NotFound.tsx';
import { PageError } from './PageError.tsx';
import { PAGES } from './pages.ts';
import { Shell } from './Shell.tsx';

export function makeRouter(role: Role) {
  const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
  const routes = PAGES.filter(({ roles }) => roles.includes(role)).map(({ path, load }) =>
    createRoute({ getParentRoute: () => root, path }).lazy(async () =>
      createLazyRoute(path)({ component: (await load()).default }),
    ),
  );
  const router = createRouter({
    routeTree: root.addChildren(routes),
    defaultPreload: 'intent',
    defaultPendingComponent: Skeleton,
    defaultErrorComponent: PageError,
    // Remount the page when a parameter changes, so that the page does not keep the state of another resource.
    defaultRemountDeps: ({ params }) => params,
    scrollRestoration: true,
    // Keep values in addresses as text. By default, the router would turn `?reference=007` into a number.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch,
  });
  // Clear the scroll positions that the router stores under each page's address. An address can contain search text,
  // which should not stay in the browser.
  addEventListener('pagehide', () => sessionStorage.clear());
  return router;
}

function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text && `?${text}`;
}
