import type { Page } from '../page.ts';

const roles = ['operator'] as const;

export const operatorPages: Page[] = [
  {
    path: '/',
    roles,
    load: () => import('./overview/Overview.tsx'),
    nav: { label: 'Overview', icon: 'home', group: 'main', key: 'H' },
  },
  {
    path: '/parties',
    roles,
    load: () => import('./parties/Parties.tsx'),
    nav: { label: 'Parties', icon: 'party', group: 'main', key: 'P' },
  },
  { path: '/parties/add', roles, load: () => import('./add/AddParty.tsx') },
  { path: '/parties/$kind/$id', roles, load: () => import('./party/Party.tsx') },
  {
    path: '/principals',
    roles,
    load: () => import('./principals/Principals.tsx'),
    nav: { label: 'Principals', icon: 'key', group: 'main' },
  },
  {
    path: '/duchies',
    roles,
    load: () => import('./Duchies.tsx'),
    nav: { label: 'Duchies, protocols', icon: 'duchy', group: 'main', key: 'D' },
  },
  {
    path: '/populations',
    roles,
    load: () => import('./populations/Populations.tsx'),
    nav: { label: 'Populations', icon: 'catalog', group: 'main' },
  },
  {
    path: '/roots',
    roles,
    load: () => import('./roots/Roots.tsx'),
    nav: { label: 'Trusted roots', icon: 'shield', group: 'main' },
  },
  {
    path: '/doctor',
    roles,
    load: () => import('./doctor/Doctor.tsx'),
    nav: { label: 'Doctor', icon: 'doc', group: 'more' },
  },
  {
    path: '/audit',
    roles,
    load: () => import('./audit/Audit.tsx'),
    nav: { label: 'Audit log', icon: 'list', group: 'more', key: 'A' },
  },
  {
    path: '/webhooks',
    roles,
    load: () => import('./WebhookHealth.tsx'),
    nav: { label: 'Webhook health', icon: 'hook', group: 'more' },
  },
  {
    path: '/replicas',
    roles,
    load: () => import('./Replicas.tsx'),
    nav: { label: 'Replicas', icon: 'server', group: 'more' },
  },
];
