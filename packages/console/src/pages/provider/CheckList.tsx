/** The steps of a verification, by what they are about. A failed step says what it means. */
import type { VerificationStep } from '@measurement-exchange/sdk';
import { Icon } from '../../parts/Icon.tsx';

export function CheckList({ steps }: { steps: readonly VerificationStep[] }) {
  const groups = Map.groupBy(steps, ({ about = '' }) => about);
  return (
    <div className="stack">
      {[...groups].map(([about, ofGroup]) => (
        <div key={about} className="stack tight">
          {about && (
            <h3>
              <bdi>{about}</bdi>
            </h3>
          )}
          <ol className="checks">
            {ofGroup.map((step) => (
              <Step key={step.step} {...step} />
            ))}
          </ol>
        </div>
      ))}
    </div>
  );
}

function Step({ step, holds, detail }: VerificationStep) {
  const [icon, word] =
    holds === true
      ? (['check', 'Passed'] as const)
      : holds === false
        ? (['x', 'Failed'] as const)
        : (['minus', 'Not checked'] as const);
  return (
    <li>
      <Icon name={icon} {...(holds !== true && { tone: holds === false ? 'bad' : 'warn' })} />
      <span>
        <span className="sr">{word}: </span>
        <bdi>{step}</bdi>
        {detail && (
          <span className={holds === false ? 'sub bad' : 'sub'}>
            <bdi>{detail}</bdi>
          </span>
        )}
      </span>
    </li>
  );
}

/** Says in one line how a verification ended, such as `12 checks passed`. */
export function checkWords(steps: readonly VerificationStep[]): string {
  const failed = steps.filter(({ holds }) => holds === false).length;
  const skipped = steps.filter(({ holds }) => holds === undefined).length;
  if (failed === 0 && skipped === 0) return `${steps.length} checks passed`;
  return `${failed} of ${steps.length} checks failed${skipped > 0 ? `, ${skipped} could not be made` : ''}`;
}
