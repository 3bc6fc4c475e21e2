import type { ReportState } from '@measurement-exchange/contract';
import { Chip, type Shown } from '../../parts/Chip.tsx';

const STATES: Record<ReportState, Shown> = {
  PLANNED: { word: 'Planned', icon: 'minus' },
  RUNNING: { word: 'Running', icon: 'run', tone: 'run' },
  COMPLETE: { word: 'Complete', icon: 'check', tone: 'ok' },
  INCOMPLETE: { word: 'Incomplete', icon: 'warn', tone: 'warn' },
};

export function ReportChip({ state }: { state: ReportState }) {
  const { word, icon, tone } = STATES[state];
  return (
    <Chip tone={tone} icon={icon}>
      {word}
    </Chip>
  );
}
