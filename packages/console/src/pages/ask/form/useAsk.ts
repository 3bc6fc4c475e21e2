/** Everything that the parts of the form share. */
import type { EventGroup } from '@measurement-exchange/contract';
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import { useMemo, useState } from 'react';
import { usePublishers } from '../../../parts/Publisher.tsx';
import type { DayRange } from '../days/days.ts';
import { defaultRange } from '../days/recorded.ts';
import type { Problem } from '../filter/problems.ts';
import { useFilterCheck } from '../filter/useFilterCheck.ts';
import { type Asked, type Catalogue, useByPublisher } from './catalogue.ts';
import { type AskForm, requestOf, suggestTitle } from './form.ts';
import { type Planned, usePlan } from './usePlan.ts';

export interface Ask {
  form: AskForm;
  change: (part: Partial<AskForm>) => void;
  catalogue: Catalogue;
  /** The picked event groups. */
  picked: readonly EventGroup[];
  /** The publishers of the picked event groups, with these event groups. */
  publishers: readonly Asked[];
  /** The title of the measurement if none is given. */
  suggestedTitle: string;
  /** The days to count: the chosen ones, or the default. */
  days: DayRange;
  now: Date;
  filterProblem: Problem | undefined;
  /** Undefined as long as the form is not complete or has a wrong filter. */
  request: MeasurementRequest | undefined;
  planned: Planned;
  /** The figure that the expected error is computed for. */
  assumed: number;
  assume: (value: number) => void;
}

export function useAsk(catalogue: Catalogue, initial: AskForm): Ask {
  const [form, setForm] = useState(initial);
  const [now] = useState(() => new Date());
  const [assumed, assume] = useState(() => assumedReach(catalogue.people));
  const picked = useMemo(
    () => form.groups.flatMap((id) => catalogue.groups.get(id) ?? []),
    [form.groups, catalogue.groups],
  );
  const publishers = useByPublisher(picked);
  const labelOf = usePublishers();
  const suggestedTitle = suggestTitle(
    form,
    publishers.map(({ name }) => labelOf(name).label),
  );
  const days = useMemo(
    () =>
      form.days ??
      defaultRange(
        picked.map((group) => group.dataAvailabilityInterval),
        now,
      ),
    [form.days, picked, now],
  );
  // Event groups describe events. A filter of a population is checked by the publisher only.
  const described = useMemo(
    () =>
      form.type === 'population'
        ? picked.map(({ dataProvider }) => ({ dataProvider: dataProvider! }))
        : picked,
    [form.type, picked],
  );
  const { problem, isChecked } = useFilterCheck(form.filter, described);
  const isReady = picked.length > 0 && isChecked && problem === undefined;
  const request = useMemo(
    () => (isReady ? requestOf({ ...form, title: form.title || suggestedTitle }, picked, days) : undefined),
    [isReady, form, suggestedTitle, picked, days],
  );
  const planned = usePlan(request, assumed);
  const change = (part: Partial<AskForm>) => setForm((form) => ({ ...form, ...part }));
  return {
    ...{ form, change, catalogue, picked, publishers, suggestedTitle, days, now },
    ...{ filterProblem: problem, request, planned, assumed, assume },
  };
}

const DEFAULT_ASSUMED = 1_000_000;

/** Returns half of the population, rounded to one digit. */
export function assumedReach(people: number | undefined): number {
  return people === undefined ? DEFAULT_ASSUMED : Math.max(1, Number((people / 2).toPrecision(1)));
}
