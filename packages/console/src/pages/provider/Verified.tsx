import { Icon } from '../../parts/Icon.tsx';
import { Loaded, NeedsKey } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { CheckList, checkWords } from './CheckList.tsx';
import { useOpenedRequest } from './requests.ts';

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
                  <div className={isGood ? 'note ok' : 'note bad'}>
                    <Icon name={isGood ? 'shield' : 'x'} />
                    <div>{checkWords(steps)}</div>
                  </div>
                  <details open={!isGood}>
                    <summary className="sm">Each check</summary>
                    <CheckList steps={steps} />
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
