import type { Requisition } from '@measurement-exchange/contract';
import type { VerificationStep } from '@measurement-exchange/sdk';
import { Icon } from '../../parts/Icon.tsx';
import { VerificationList } from '../../parts/results/VerificationList.tsx';
import { Loaded, NeedsKey } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { useOpenedRequest } from './requests.ts';

const FAILED = (
  <>
    <b>Do not answer this request.</b> A check failed, so nobody can tell whether the advertiser asked it.
  </>
);

const DUCHY_FAILED = (
  <>
    <b>The agent does not answer this request yet.</b> A duchy has not published its keys, or is not one that
    you trust.
  </>
);

/**
 * Explains the first failed check. If it is about a duchy, the checks of the advertiser's signatures have passed,
 * because they come before the checks of duchies.
 */
function meaningOf(steps: readonly VerificationStep[]) {
  const failed = steps.find(({ holds }) => holds === false);
  return failed?.about?.startsWith('duchies/') ? DUCHY_FAILED : FAILED;
}

export function Verified({ requisition }: { requisition: Requisition }) {
  const { companion } = useSession();
  const query = useOpenedRequest(requisition.name!, requisition.etag);
  return (
    <section className="card">
      <header>
        <h2>Is it in order?</h2>
      </header>
      <div className="in-card stack">
        {companion === undefined ? (
          <NeedsKey what="Signatures are checked against the roots that you trust." />
        ) : (
          <Loaded query={query}>
            {({ steps }) => {
              const isGood = steps.every(({ holds }) => holds === true);
              return (
                <>
                  {isGood && (
                    <div className="note ok">
                      <Icon name="shield" />
                      <div>{steps.length} checks passed</div>
                    </div>
                  )}
                  <details open={!isGood}>
                    <summary className="sm">Each check</summary>
                    <VerificationList steps={steps} meaning={meaningOf(steps)} />
                  </details>
                </>
              );
            }}
          </Loaded>
        )}
      </div>
    </section>
  );
}
