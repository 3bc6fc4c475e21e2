import { useEffect, useState } from 'react';

/** Returns false for a moment after a row appears, so that rows that the user scrolls past load nothing. */
export function useSettled(ms = 120): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return settled;
}
