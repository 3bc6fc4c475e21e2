import type { Page } from '../page.ts';

export const consumerPages: Page[] = [
  {
    path: '/',
    roles: ['consumer'],
    load: () => import('./Home.tsx'),
    nav: { label: 'Home', icon: 'home', group: 'main', key: 'H' },
  },
  {
    path: '/measurements',
    roles: ['consumer'],
    load: () => import('./Measurements.tsx'),
    nav: { label: 'Measurements', icon: 'measure', group: 'main', key: 'M', work: 'measurements' },
  },
  { path: '/measurements/$id', roles: ['consumer'], load: () => import('./MeasurementPage.tsx') },
  { path: '/compare', roles: ['consumer'], under: '/measurements', load: () => import('./Compare.tsx') },
];
