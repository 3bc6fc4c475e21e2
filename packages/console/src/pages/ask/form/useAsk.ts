/** The state that all steps of the form share. */
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import { useMemo, useState } from 'react';
import { usePublishers } from '../../../parts/Publisher.tsx';
import type { Catalogue } from './catalogue.ts';
import { type AskForm, requestOf, suggestTitle } from './form.ts';
import { type Picking, usePicking } from './usePicking.ts';
import { type Planned, usePlan } from './usePlan.ts';

export interface Ask extends Picking {
  form: AskForm;
  change: (part: Partial<AskForm>) => void;
  suggestedTitle: string;
  /** Undefined while the form is incomplete or its filter is invalid. */
  request: MeasurementRequest | undefined;
  planned: Planned;
  /** The assumed result, for which the expected error is computed. */
  assumed: number;
  assume: (value: number) => void;
}

export function useAsk(catalogue: Catalogue, initial: AskForm): Ask {
  const [form, setForm] = useState(initial);
  const [assumed, assume] = useState(() => assumedReach(catalogue.people));
  const { isReady, ...picking } = usePicking(catalogue, form);
  const { picked, publishers, days } = picking;
  const labelOf = usePublishers();
  const suggestedTitle = suggestTitle(
    form,
    publishers.map(({ name }) => labelOf(name).label),
  );
  const request = useMemo(
    () => (isReady ? requestOf({ ...form, title: form.title || suggestedTitle }, picked, days) : undefined),
    [isReady, form, suggestedTitle, picked, days],
  );
  const planned = usePlan(request, assumed);
  const change = (part: Partial<AskForm>) => setForm((form) => ({ ...form, ...part }));
  return { ...picking, form, change, suggestedTitle, request, planned, assumed, assume };
}

const DEFAULT_ASSUMED = 1_000_000;

export function assumedReach(people: number | undefined): number {
  return people === undefined ? DEFAULT_ASSUMED : Math.max(1, Number((people / 2).toPrecision(1)));
}
