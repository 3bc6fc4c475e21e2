import { PARTIES, type Page } from '../page.ts';

export const sharedPages: Page[] = [
  {
    path: '/changes',
    roles: PARTIES,
    load: () => import('./changes/Changes.tsx'),
    nav: { label: 'Changes', icon: 'changes', group: 'more', key: 'F' },
  },
  {
    path: '/webhooks',
    roles: PARTIES,
    load: () => import('./webhooks/Webhooks.tsx'),
    nav: { label: 'Webhooks', icon: 'hook', group: 'more', key: 'W' },
  },
  { path: '/webhooks/$id', roles: PARTIES, load: () => import('./webhooks/Webhook.tsx') },
  {
    path: '/keys',
    roles: PARTIES,
    load: () => import('./keys/Keys.tsx'),
    nav: { label: 'Keys and trust', icon: 'shield', group: 'more', key: 'K' },
  },
];
