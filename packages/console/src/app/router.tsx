/** The router: one route for each path, which shows the page of the caller's role. */
import { createRootRoute, createRoute, createRouter, type RouteComponent } from '@tanstack/react-router';
import { type ComponentType, lazy } from 'react';
import type { Role } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { NotFound } from './NotFound.tsx';
import type { Page } from './page.ts';
import { PAGES } from './pages.ts';
import { Shell } from './Shell.tsx';

export function makeRouter() {
  const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
  const byPath = Map.groupBy(PAGES, ({ path }) => path);
  const routes = [...byPath].map(([path, pages]) =>
    createRoute({ getParentRoute: () => root, path, component: componentOf(pages) }),
  );
  const router = createRouter({
    routeTree: root.addChildren(routes),
    defaultPreload: 'intent',
    scrollRestoration: true,
    // The values in an address are texts. By default, the router would turn `?reference=007` into a number.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch,
  });
  // When the page closes, the router stores scroll positions by address, and an address may hold what somebody searched for.
  addEventListener('pagehide', () => sessionStorage.clear());
  return router;
}

function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text && `?${text}`;
}

function componentOf(pages: Page[]): RouteComponent {
  const components = new Map<Role, ComponentType>();
  for (const { roles, load } of pages) {
    const component = lazy(load);
    for (const role of roles) components.set(role, component);
  }
  return () => <PageOfRole components={components} />;
}

function PageOfRole({ components }: { components: ReadonlyMap<Role, ComponentType> }) {
  const Component = components.get(useSession().role) ?? NotFound;
  return <Component />;
}
