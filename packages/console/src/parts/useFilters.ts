/** The filters of a page. They are part of the page's address, so that each view has a link. */
import { useNavigate, useSearch } from '@tanstack/react-router';

export interface Filters {
  get(name: string): string;
  /** Changes filters in the address. An empty string removes a filter. */
  set(changes: Record<string, string>): void;
}

export function useFilters(): Filters {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  return {
    get: (name) => (search[name] === undefined ? '' : String(search[name])),
    set(changes) {
      const next = Object.entries({ ...search, ...changes }).filter(([, value]) => value !== '');
      void navigate({
        to: '.',
        search: Object.fromEntries(next) as never,
        replace: true,
        resetScroll: false,
      });
    },
  };
}
