import type { Page } from '../../app/page.ts';

export const consumerPages: Page[] = [
  {
    path: '/',
    roles: ['consumer'],
    load: () => import('./Home.tsx'),
    nav: { label: 'Home', icon: 'home', group: 'main', key: 'H' },
  },
];
