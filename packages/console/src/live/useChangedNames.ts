import { useEffect, useRef } from 'react';
import { onChange } from './live.ts';

const COLLECT_MS = 50;

/**
 * Calls `onNames` with the names of changed resources in the collection. First collects the names for COLLECT_MS, so
 * that many changes cause only one call. Calls `onNames` with undefined if changes may have been missed.
 */
export function useChangedNames(collection: string, onNames: (names: string[] | undefined) => void): void {
  const latest = useRef(onNames);
  latest.current = onNames;
  useEffect(() => {
    const names = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      latest.current([...names]);
      names.clear();
    };
    const end = onChange((name) => {
      if (name === undefined) return latest.current(undefined);
      if (name.split('/').at(-2) !== collection) return;
      names.add(name);
      timer ??= setTimeout(flush, COLLECT_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [collection]);
}
