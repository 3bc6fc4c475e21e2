import { useEffect, useState } from 'react';

/** Returns the value after a delay. An undefined value takes effect immediately. */
export function useDelayed<T>(value: T | undefined, ms: number): T | undefined {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return value === undefined || ms === 0 ? value : delayed;
}
