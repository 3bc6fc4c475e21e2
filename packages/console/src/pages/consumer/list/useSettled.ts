import { useEffect, useState } from 'react';

/** Returns false for a moment after a row appears, so that a row loads nothing if the user only scrolls past it. */
export function useSettled(ms = 120): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return settled;
}
