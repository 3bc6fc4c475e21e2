/** The part of a form that picks event groups, days and a filter. The forms of measurements and reports share it. */
import type { EventGroup } from '@measurement-exchange/contract';
import { useMemo, useState } from 'react';
import type { DayRange } from '../days/days.ts';
import { defaultRange } from '../days/recorded.ts';
import type { Problem } from '../filter/problems.ts';
import { useFilterCheck } from '../filter/useFilterCheck.ts';
import { type Asked, type Catalogue, useByPublisher } from './catalogue.ts';
import type { AskForm } from './form.ts';

type Picked = Pick<AskForm, 'groups' | 'days' | 'filter'>;

export interface Picking {
  form: Picked & Partial<Pick<AskForm, 'type'>>;
  change: (part: Partial<Picked>) => void;
  catalogue: Catalogue;
  picked: readonly EventGroup[];
  publishers: readonly Asked[];
  /** The days to count: chosen by the user, or the default. */
  days: DayRange;
  now: Date;
  filterProblem: Problem | undefined;
}

/** `isReady` is true if event groups are picked and the filter is valid. */
export function usePicking(
  catalogue: Catalogue,
  form: Picking['form'],
): Omit<Picking, 'form' | 'change'> & { isReady: boolean } {
  const [now] = useState(() => new Date());
  const picked = useMemo(
    () => form.groups.flatMap((id) => catalogue.groups.get(id) ?? []),
    [form.groups, catalogue.groups],
  );
  const publishers = useByPublisher(picked);
  const days = useMemo(
    () =>
      form.days ??
      defaultRange(
        picked.map((group) => group.dataAvailabilityInterval),
        now,
      ),
    [form.days, picked, now],
  );
  // For a population measurement, ignore the attributes of the event groups, because they describe events, not people.
  // Only the publisher can check the filter of such a measurement.
  const described = useMemo(
    () =>
      form.type === 'population'
        ? picked.map(({ dataProvider }) => ({ dataProvider: dataProvider! }))
        : picked,
    [form.type, picked],
  );
  const { problem, isChecked } = useFilterCheck(form.filter, described);
  const isReady = picked.length > 0 && isChecked && problem === undefined;
  return { catalogue, picked, publishers, days, now, filterProblem: problem, isReady };
}
