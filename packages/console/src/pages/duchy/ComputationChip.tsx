import type { ComputationState } from '@measurement-exchange/contract';
import { Chip, COMPUTED, type Shown } from '../../parts/Chip.tsx';

export const STATES: Record<ComputationState, Shown> = {
  PENDING_PARAMS: { word: 'Making keys', icon: 'key', tone: 'run' },
  PENDING_FULFILLMENT: { word: 'Waiting for data', icon: 'clock', tone: 'warn' },
  PENDING_CONFIRMATION: { word: 'Checking data', icon: 'clock', tone: 'run' },
  ...COMPUTED,
};

export function ComputationChip({ state }: { state: ComputationState }) {
  const { word, icon, tone } = STATES[state];
  return (
    <Chip tone={tone} icon={icon}>
      {word}
    </Chip>
  );
}
