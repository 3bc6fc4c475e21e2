/** Shows the steps of a verification. Each step has passed, has failed, or was not checked. */
import type { VerificationStep } from '@measurement-exchange/sdk';
import type { ReactNode } from 'react';
import { idOf } from '../../session/roles.ts';
import { Icon } from '../Icon.tsx';
import { NeedsKey } from '../states.tsx';
import type { NameOf } from './answers.ts';

const RESULT_FAILED = (
  <>
    <b>Do not use this result.</b> A step does not hold, so nobody can tell whether these are the figures that
    were signed for your request. They are not shown.
  </>
);

/**
 * Shows the steps up to and including the first step that did not pass. `steps` is undefined if the page has no key for
 * verification.
 */
export function VerificationList({
  steps,
  nameOf = idOf,
  meaning = RESULT_FAILED,
}: {
  steps?: readonly VerificationStep[];
  nameOf?: NameOf;
  /** The explanation of a failed step. By default, it says what a failed step means for a result. */
  meaning?: ReactNode;
}) {
  if (steps === undefined) return <NeedsKey what="Verifying needs your keys and the roots that you trust." />;
  const failed = steps.findIndex(({ holds }) => holds !== true);
  const shown = failed === -1 ? steps : steps.slice(0, failed + 1);
  const subjects = Map.groupBy(shown, ({ about }) => about);
  const later = steps.length - shown.length;
  return (
    <div className="stack">
      {[...subjects].map(([about, of]) => (
        <div key={about ?? ''} className="stack tight">
          {about !== undefined && (
            <h3>
              <bdi>{titleOf(about, nameOf)}</bdi>
            </h3>
          )}
          <ol className="checks">
            {of.map((step) => (
              <Step key={step.step} step={step} />
            ))}
          </ol>
        </div>
      ))}
      {failed !== -1 && (
        <div className="note bad" role="alert">
          <Icon name="x" tone="bad" />
          <div>
            {meaning}
            {later > 0 && ` ${later} later ${later === 1 ? 'step is' : 'steps are'} not shown.`}
          </div>
        </div>
      )}
    </div>
  );
}

export function VerificationChip({ steps }: { steps?: readonly VerificationStep[] }) {
  if (steps === undefined)
    return (
      <span className="chip">
        <Icon name="lock" />
        Not possible here
      </span>
    );
  const passed = steps.filter(({ holds }) => holds === true).length;
  return passed === steps.length ? (
    <span className="chip ok">
      <Icon name="check" />
      {passed} of {steps.length}
    </span>
  ) : (
    <span className="chip bad">
      <Icon name="x" />
      Failed at step {steps.findIndex(({ holds }) => holds !== true) + 1}
    </span>
  );
}

function Step({ step: { step, holds, detail } }: { step: VerificationStep }) {
  const isPassed = holds === true;
  return (
    <li>
      <Icon name={isPassed ? 'check' : 'x'} {...(!isPassed && { tone: 'bad' })} />
      <span>
        <b>{sentence(step)}</b>
        {!isPassed && <span className="bad">: {holds === false ? 'failed' : 'not checked'}</span>}
        {detail !== '' && (
          <span className="sub">
            <bdi>{detail}</bdi>
          </span>
        )}
      </span>
    </li>
  );
}

const titleOf = (about: string, nameOf: NameOf) => (about.includes('/') ? nameOf(about) : sentence(about));

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
