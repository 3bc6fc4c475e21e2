import type { Requisition } from '@measurement-exchange/contract';
import { moment } from '../../format.ts';
import { MeasurementChip } from '../../parts/Chip.tsx';
import { JUSTIFICATIONS } from './words.ts';

/** Shows the provider's response: a result, a refusal, or a deferral. Shows nothing before the first response. */
export function Answered({ requisition }: { requisition: Requisition }) {
  const { state, refusal, deferral, fulfillmentContext: context, measurementState, updateTime } = requisition;
  const isAnswered = state === 'FULFILLED';
  const isOpen = state === 'UNFULFILLED';
  if (!isAnswered && refusal === undefined && !(isOpen && deferral)) return null;
  return (
    <section className="card">
      <header>
        <h2>{isOpen ? 'Not answered yet' : 'What was answered'}</h2>
      </header>
      <div className="in-card">
        <dl className="kv">
          {isAnswered && (
            <>
              <dt>Answered</dt>
              <dd>
                {updateTime && moment(updateTime)}. The content is sealed; nobody here can read it again.
              </dd>
            </>
          )}
          {context?.buildLabel && (
            <>
              <dt>By</dt>
              <dd>
                <bdi>{context.buildLabel}</bdi>
              </dd>
            </>
          )}
          {context?.warnings?.map((warning) => (
            <Warning key={warning} text={warning} />
          ))}
          {refusal && (
            <>
              <dt>Refused</dt>
              <dd>
                {JUSTIFICATIONS[refusal.justification].title}
                {refusal.message && (
                  <>
                    : <bdi>{refusal.message}</bdi>
                  </>
                )}
                <span className="sub">
                  <code>{refusal.justification}</code>
                </span>
              </dd>
            </>
          )}
          {isOpen && deferral && (
            <>
              <dt>Deferred</dt>
              <dd>
                until {moment(deferral.until)}: <bdi>{deferral.reason}</bdi>
              </dd>
            </>
          )}
          <dt>Measurement</dt>
          <dd>{measurementState && <MeasurementChip state={measurementState} failure={undefined} />}</dd>
        </dl>
      </div>
    </section>
  );
}

function Warning({ text }: { text: string }) {
  return (
    <>
      <dt>Warning</dt>
      <dd className="warn">
        <bdi>{text}</bdi>
      </dd>
    </>
  );
}
