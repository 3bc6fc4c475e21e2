/** Defines a page of the console. Each area lists its pages in `pages/<area>/pages.ts`. */
import type { ReactNode } from 'react';
import type { IconName } from '../parts/Icon.tsx';
import type { Role } from '../session/roles.ts';

export interface Page {
  /** A path such as `/measurements/$id`. The page reads `id` with `useParams({ strict: false })`. */
  path: string;
  /** The roles that see this page. Several pages may have the same path if their roles differ. */
  roles: readonly Role[];
  load: () => Promise<{ default: () => ReactNode }>;
  /** The path of the side bar entry that this page belongs to. Absent if `path` begins with the entry's path. */
  under?: string;
  /** The entry in the side bar. `main` entries come before `more` entries. */
  nav?: {
    label: string;
    icon: IconName;
    group: 'main' | 'more';
    key?: string;
    /** The kind of open work. The side bar shows the number of open items beside the label. */
    work?: 'measurements' | 'requisitions' | 'computations';
  };
}

export const EVERYONE: readonly Role[] = ['consumer', 'provider', 'duchy', 'operator'];
export const PARTIES: readonly Role[] = ['consumer', 'provider', 'duchy'];
