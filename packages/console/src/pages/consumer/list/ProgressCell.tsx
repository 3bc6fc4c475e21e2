/**
 * The progress of a measurement: a bar with one step for each publisher, and one more if duchies compute the result.
 * The bar shows at most eight steps.
 */
import type { Explanation } from '@measurement-exchange/contract';
import { useResult } from '../../../live/useOpened.ts';
import { useResource } from '../../../live/useResource.ts';
import { listed, useNames } from '../../../parts/names.ts';
import { useSession } from '../../../session/session.ts';
import { isCalm, whyItWaits } from '../one/why.ts';
import type { Row } from './rows.ts';

type Step = 'd' | 'a' | 'w' | 'x' | '';

export function ProgressCell({ row, isSettled }: { row: Row; isSettled: boolean }) {
  if (row.state === 'SUCCEEDED') return <Verified row={row} isSettled={isSettled} />;
  if (row.state === 'FAILED') return <Steps steps={stepsOf(row, 'x')} text={failureText(row)} />;
  if (row.state === 'CANCELLED') return <Steps steps={stepsOf(row, '')} text="Ended without a result" />;
  return <Waiting row={row} isSettled={isSettled} />;
}

const stepsOf = ({ publishers, isComputed }: Row, step: Step): Step[] =>
  Array(Math.min(8, publishers.length + (isComputed ? 1 : 0))).fill(step);

function failureText({ failure }: Row): string {
  if (failure?.reason === 'REQUISITION_REFUSED') return 'A publisher refused';
  return failure?.reason === 'CERTIFICATE_REVOKED'
    ? 'A certificate was revoked'
    : 'A duchy could not compute it';
}

function Steps({ steps, text }: { steps: Step[]; text: string }) {
  return (
    <span className="bar-in">
      <span className="steps" aria-hidden="true">
        {steps.map((step, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps keep their order
          <i key={i} className={step} />
        ))}
      </span>
      <span className="xs soft">{text}</span>
    </span>
  );
}

function Verified({ row, isSettled }: { row: Row; isSettled: boolean }) {
  const { companion } = useSession();
  const { data } = useResult(row.name, { enabled: isSettled && !row.isRemoved });
  const text =
    companion === undefined || row.isRemoved
      ? 'Answered'
      : data === undefined
        ? 'Answered, verifying'
        : data.result
          ? 'Verified here'
          : 'Not verified';
  return <Steps steps={stepsOf(row, data && !data.result ? 'x' : 'd')} text={text} />;
}

function Waiting({ row, isSettled }: { row: Row; isSettled: boolean }) {
  const nameOf = useNames();
  const { data } = useResource(
    'requisitions',
    ['why', row.name],
    ({ client }, signal) => client.explainMeasurement({ name: row.name, signal }),
    { enabled: isSettled, refetchInterval: 15_000 },
  );
  if (data === undefined) return <Steps steps={stepsOf(row, '')} text="" />;
  const why = whyItWaits(data, { requisitions: [], reports: [], nameOf, now: Date.now() });
  return (
    <Steps
      steps={openSteps(row, data)}
      text={row.state === 'COMPUTING' ? (why?.title ?? '') : answered(row, data, nameOf)}
    />
  );
}

function openPublishers({ publishers, state }: Row, { waitingFor }: Explanation): string[] {
  if (state !== 'AWAITING_REQUISITION_FULFILLMENT') return [];
  const waits = waitingFor.map(({ party }) => party).filter((party) => publishers.includes(party));
  return waits.length === 0 ? publishers : waits;
}

function openSteps(row: Row, explanation: Explanation): Step[] {
  const open = openPublishers(row, explanation);
  const isStuck = explanation.waitingFor.some((wait) => !isCalm(wait, Date.now()));
  const steps = row.publishers.map((name): Step => (open.includes(name) ? (isStuck ? 'w' : 'a') : 'd'));
  if (row.isComputed) steps.push(row.state === 'COMPUTING' ? 'a' : '');
  return steps.slice(0, 8);
}

function answered(row: Row, explanation: Explanation, nameOf: (party: string) => string): string {
  const open = openPublishers(row, explanation);
  const names = open.slice(0, 2).map(nameOf);
  const more = open.length > 2 ? [...names, `${open.length - 2} more`] : names;
  return `Waits for ${listed(more)}`;
}
