/** The table of pages. Each area lists its own pages in `pages/<area>/pages.ts`. */
import type { ComponentType } from 'react';
import type { IconName } from '../parts/Icon.tsx';
import type { Role } from '../session/roles.ts';

export interface Page {
  /** A path such as `/measurements/$id`. The page reads `id` with `useParams({ strict: false })`. */
  path: string;
  /** The roles that see this page. Several pages may have one path if their roles differ. */
  roles: readonly Role[];
  load: () => Promise<{ default: ComponentType }>;
  /** The entry in the side bar. `main` entries come before `more` entries. */
  nav?: { label: string; icon: IconName; group: 'main' | 'more'; key?: string };
}

export const EVERYONE: readonly Role[] = ['consumer', 'provider', 'duchy', 'operator'];
export const PARTIES: readonly Role[] = ['consumer', 'provider', 'duchy'];
