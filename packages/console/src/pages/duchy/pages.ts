import type { Page } from '../page.ts';

const roles = ['duchy'] as const;

export const duchyPages: Page[] = [
  {
    path: '/',
    roles,
    load: () => import('./Home.tsx'),
    nav: { label: 'Home', icon: 'home', group: 'main', key: 'H' },
  },
  {
    path: '/computations',
    roles,
    load: () => import('./Computations.tsx'),
    nav: { label: 'Computations', icon: 'duchy', group: 'main', key: 'C', work: 'computations' },
  },
  { path: '/computations/$id', roles, load: () => import('./Computation.tsx') },
  {
    path: '/peers',
    roles,
    load: () => import('./Peers.tsx'),
    nav: { label: 'Peers and roots', icon: 'party', group: 'main', key: 'P' },
  },
];
