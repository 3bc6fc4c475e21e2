import type { Webhook, WebhookDelivery } from '@measurement-exchange/contract';
import { Chip } from '../../../parts/Chip.tsx';
import { KIND_WORDS } from '../../../parts/changeWords.ts';

export function WebhookChip({ state }: Pick<Webhook, 'state'>) {
  return state === 'PAUSED' ? (
    <Chip tone="warn" icon="warn">
      Paused
    </Chip>
  ) : (
    <Chip tone="ok" icon="check">
      Active
    </Chip>
  );
}

export function kindsText({ filter }: Pick<Webhook, 'filter'>): string {
  const kinds = filter?.kinds ?? [];
  return kinds.length === 0 ? 'All changes' : kinds.map((kind) => KIND_WORDS[kind] ?? kind).join(', ');
}

export function DeliveryChip({ state }: Pick<WebhookDelivery, 'state'>) {
  if (state === 'DELIVERED') {
    return (
      <Chip tone="ok" icon="check">
        Delivered
      </Chip>
    );
  }
  return state === 'FAILED' ? (
    <Chip tone="bad" icon="x">
      Failed
    </Chip>
  ) : (
    <Chip tone="run" icon="clock">
      To be sent
    </Chip>
  );
}

/** Describes the last attempt, such as `Answered 200 in 31 ms` or `No answer: connection refused`. */
export function attemptText({ status, error, milliseconds, attempts }: WebhookDelivery): string {
  if (attempts === 0) return 'Not sent yet';
  const times = attempts > 1 ? `, attempt ${attempts}` : '';
  const took = milliseconds === undefined ? '' : ` in ${milliseconds} ms`;
  if (error !== undefined) return `No answer: ${error}${times}`;
  return status === undefined ? `Sent${times}` : `Answered ${status}${took}${times}`;
}
