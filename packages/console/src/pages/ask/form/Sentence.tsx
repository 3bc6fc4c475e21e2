/** Describes the question in one sentence. */
import type { RequestType } from '@measurement-exchange/sdk';
import { Fragment } from 'react';
import { day } from '../../../format.ts';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import type { Ask } from './useAsk.ts';

const BEGINNINGS: Record<RequestType, string> = {
  reach: 'How many different people saw',
  reachAndFrequency: 'How many different people saw, and how often,',
  impression: 'How often was shown',
  duration: 'For how long was watched',
  population: 'How many people are there to reach',
};

export function Sentence({ ask: { form, picked, publishers, days } }: { ask: Ask }) {
  if (picked.length === 0) return <p className="soft">Pick publishers, and the question is written here.</p>;
  const filter = form.filter.trim();
  return (
    <p className="soft">
      {BEGINNINGS[form.type]}{' '}
      {form.type !== 'population' && (
        <b>{picked.length === 1 ? '1 event group' : `${picked.length} event groups`}</b>
      )}{' '}
      on{' '}
      {publishers.map(({ name }, i) => (
        <Fragment key={name}>
          {i > 0 && (i === publishers.length - 1 ? ' or ' : ', ')}
          <PublisherTag name={name} />
        </Fragment>
      ))}
      {form.type !== 'population' && (
        <>
          {' '}
          from <b>{day(days.from)}</b> to <b>{day(days.until)}</b>
        </>
      )}
      {filter !== '' && (
        <>
          , where <code>{filter}</code>
        </>
      )}
      ?
    </p>
  );
}
