import { useSyncExternalStore } from 'react';

const NARROW = '(max-width: 760px)';
const MEDIUM = '(max-width: 1180px)';

export function useMonths(): number {
  return useSyncExternalStore(
    (onChange) => {
      const queries = [matchMedia(NARROW), matchMedia(MEDIUM)];
      for (const query of queries) query.addEventListener('change', onChange);
      return () => {
        for (const query of queries) query.removeEventListener('change', onChange);
      };
    },
    () => (matchMedia(NARROW).matches ? 1 : matchMedia(MEDIUM).matches ? 2 : 3),
  );
}
