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

/** Whether a request is signed and in order, step by step. */
export function Verified({ name }: { name: string }) {
  const { companion } = useSession();
  const query = useOpenedRequest(name);
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
                    <VerificationList steps={steps} meaning={FAILED} />
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
