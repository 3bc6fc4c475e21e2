/** Chips that show a state as a color, an icon and a word. */
import type { Measurement, Requisition } from '@measurement-exchange/contract';
import type { ReactNode } from 'react';
import { Icon, type IconName, type Tone } from './Icon.tsx';

export type ChipTone = Tone | 'run' | undefined;

export function Chip({ tone, icon, children }: { tone?: ChipTone; icon: IconName; children: ReactNode }) {
  return (
    <span className={tone ? `chip ${tone}` : 'chip'}>
      <Icon name={icon} />
      {children}
    </span>
  );
}

export type Shown = { word: string; icon: IconName; tone?: ChipTone };

/** The states that a measurement and its computation share. */
export const COMPUTED = {
  COMPUTING: { word: 'Computing', icon: 'run', tone: 'run' },
  SUCCEEDED: { word: 'Succeeded', icon: 'check', tone: 'ok' },
  FAILED: { word: 'Failed', icon: 'x', tone: 'bad' },
  CANCELLED: { word: 'Canceled', icon: 'minus' },
} satisfies Record<string, Shown>;

const MEASUREMENT: Record<Measurement['state'], Shown> = {
  AWAITING_REQUISITION_FULFILLMENT: { word: 'Waiting', icon: 'clock', tone: 'warn' },
  ...COMPUTED,
};

export function MeasurementChip({ state, failure }: Pick<Measurement, 'state' | 'failure'>) {
  const { word, icon, tone } = MEASUREMENT[state];
  const isRefused = failure?.reason === 'REQUISITION_REFUSED';
  return (
    <Chip tone={tone} icon={icon}>
      {isRefused ? 'Refused' : word}
    </Chip>
  );
}

const REQUEST: Record<Requisition['state'], Shown> = {
  UNFULFILLED: { word: 'Asked', icon: 'clock', tone: 'run' },
  FULFILLED: { word: 'Answered', icon: 'check', tone: 'ok' },
  REFUSED: { word: 'Refused', icon: 'x', tone: 'bad' },
  WITHDRAWN: { word: 'Withdrawn', icon: 'minus' },
};

/**
 * The state of a requisition, which the console calls a request. `isHeld` is true while the provider's agent holds the
 * request until the provider's operator confirms the request's event group references.
 */
export function RequestChip({
  state,
  deferral,
  isHeld = false,
}: Pick<Requisition, 'state' | 'deferral'> & { isHeld?: boolean }) {
  const isDeferred = deferral !== undefined && Date.parse(deferral.until) > Date.now();
  const { word, icon, tone }: Shown =
    state === 'UNFULFILLED' && (isHeld || isDeferred)
      ? { word: isHeld ? 'Held' : 'Deferred', icon: 'clock', tone: 'warn' }
      : REQUEST[state];
  return (
    <Chip tone={tone} icon={icon}>
      {word}
    </Chip>
  );
}
