import type { Page } from '../page.ts';

export const reportPages: Page[] = [
  {
    path: '/reports',
    roles: ['consumer'],
    load: () => import('./Reports.tsx'),
    nav: { label: 'Reports', icon: 'report', group: 'main', key: 'R' },
  },
  { path: '/reports/new', roles: ['consumer'], load: () => import('./NewReport.tsx') },
  { path: '/reports/$id', roles: ['consumer'], load: () => import('./ReportPage.tsx') },
];
