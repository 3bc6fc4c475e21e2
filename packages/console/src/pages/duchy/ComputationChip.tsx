import type { ComputationState } from '@measurement-exchange/contract';
import { Chip, type ChipTone } from '../../parts/Chip.tsx';
import type { IconName } from '../../parts/Icon.tsx';

export const STATES: Record<ComputationState, { word: string; icon: IconName; tone?: ChipTone }> = {
  PENDING_PARAMS: { word: 'Making keys', icon: 'key', tone: 'run' },
  PENDING_FULFILLMENT: { word: 'Waiting for data', icon: 'clock', tone: 'warn' },
  PENDING_CONFIRMATION: { word: 'Checking data', icon: 'clock', tone: 'run' },
  COMPUTING: { word: 'Computing', icon: 'run', tone: 'run' },
  SUCCEEDED: { word: 'Succeeded', icon: 'check', tone: 'ok' },
  FAILED: { word: 'Failed', icon: 'x', tone: 'bad' },
  CANCELLED: { word: 'Canceled', icon: 'minus' },
};

/** The state of a computation, as its duchies see it. */
export function ComputationChip({ state }: { state: ComputationState }) {
  const { word, icon, tone } = STATES[state];
  return (
    <Chip tone={tone} icon={icon}>
      {word}
    </Chip>
  );
}
