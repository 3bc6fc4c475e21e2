import type { filterProblem } from '@measurement-exchange/sdk/filters';
import { useEffect, useMemo, useState } from 'react';
import type { Described } from './attributes.ts';
import { type Problem, problemOf } from './problems.ts';

/** Checks a filter while the user types. The parser is loaded when the user types the first character. */
export function useFilterCheck(
  text: string,
  groups: readonly Described[],
): { problem: Problem | undefined; isChecked: boolean } {
  const [check, setCheck] = useState<typeof filterProblem>();
  const isNeeded = text.trim() !== '';
  useEffect(() => {
    if (!isNeeded) return;
    void import('@measurement-exchange/sdk/filters').then(({ filterProblem }) =>
      setCheck(() => filterProblem),
    );
  }, [isNeeded]);
  const problem = useMemo(() => check && problemOf(text, groups, check), [text, groups, check]);
  return { problem, isChecked: !isNeeded || check !== undefined };
}
