import type { Page } from '../page.ts';

export const askPages: Page[] = [
  { path: '/new', roles: ['consumer'], under: '/measurements', load: () => import('./NewMeasurement.tsx') },
  {
    path: '/catalog',
    roles: ['consumer'],
    load: () => import('./catalog/Catalog.tsx'),
    nav: { label: 'Catalog', icon: 'catalog', group: 'main', key: 'C' },
  },
  { path: '/catalog/$id', roles: ['consumer'], load: () => import('./catalog/CatalogEntry.tsx') },
];
