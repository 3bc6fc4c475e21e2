import type { Page } from '../page.ts';

const roles = ['provider'] as const;

export const providerPages: Page[] = [
  {
    path: '/',
    roles,
    load: () => import('./Home.tsx'),
    nav: { label: 'Home', icon: 'home', group: 'main', key: 'H' },
  },
  {
    path: '/requests',
    roles,
    load: () => import('./Requests.tsx'),
    nav: { label: 'Requests', icon: 'list', group: 'main', key: 'R', work: 'requisitions' },
  },
  { path: '/requests/$id', roles, load: () => import('./Request.tsx') },
  {
    path: '/event-groups',
    roles,
    load: () => import('./EventGroups.tsx'),
    nav: { label: 'Event groups', icon: 'catalog', group: 'main', key: 'E' },
  },
  { path: '/event-groups/new', roles, load: () => import('./EditEventGroup.tsx') },
  { path: '/event-groups/$id', roles, load: () => import('./EventGroup.tsx') },
  { path: '/event-groups/$id/edit', roles, load: () => import('./EditEventGroup.tsx') },
  { path: '/schemas', roles, under: '/event-groups', load: () => import('./Schemas.tsx') },
  { path: '/schemas/new', roles, under: '/event-groups', load: () => import('./NewSchema.tsx') },
  { path: '/schemas/$id', roles, under: '/event-groups', load: () => import('./Schema.tsx') },
  {
    path: '/budget',
    roles,
    load: () => import('./Budget.tsx'),
    nav: { label: 'Privacy budget', icon: 'budget', group: 'main', key: 'B' },
  },
  {
    path: '/agent',
    roles,
    load: () => import('./Agent.tsx'),
    nav: { label: 'Agent and files', icon: 'agent', group: 'main', key: 'A' },
  },
];
