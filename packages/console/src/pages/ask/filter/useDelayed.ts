import { useEffect, useState } from 'react';

/** Returns the value after a delay. A delay of 0 takes effect at once, and so does an undefined value. */
export function useDelayed<T>(value: T | undefined, ms: number): T | undefined {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return value === undefined || ms === 0 ? value : delayed;
}
