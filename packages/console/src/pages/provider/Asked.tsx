/**
 * The question in a request. The events, days, and filter are encrypted for the provider. The measurement's type and
 * privacy parameters are not encrypted.
 */
import type { Requisition } from '@measurement-exchange/contract';
import type { OpenedSpec } from '../../companion/methods.ts';
import { dateRange } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { specWords } from '../../parts/specWords.ts';
import { Loaded, NeedsKey } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { amountWords, costWords, shareOf } from './budgetDays.ts';
import { Reference } from './RequestTable.tsx';
import { useBudget, useIsCharged, useOpenedRequest } from './requests.ts';

export function Asked({ requisition }: { requisition: Requisition }) {
  const words = specWords(requisition.measurementSpec?.message);
  const { companion } = useSession();
  const query = useOpenedRequest(requisition.name!, requisition.etag);
  return (
    <section className="card">
      <header>
        <h2>What is asked</h2>
        <p>
          {companion
            ? 'Decoded with your key on this computer.'
            : 'Events, days and filter are sealed for your key.'}
        </p>
      </header>
      <div className="in-card stack">
        <dl className="kv">
          <dt>Asks for</dt>
          <dd>{words?.what}</dd>
          {words?.facts.map(([label, value]) => (
            <Fact key={label} label={label} value={value} />
          ))}
          <dt>Computed by</dt>
          <dd>{computedBy(requisition)}</dd>
        </dl>
        {companion === undefined ? (
          <NeedsKey what="Which events, which days and which filter:" />
        ) : (
          <Loaded query={query}>
            {({ spec, error, reason }) => (
              <>
                {error && (
                  <div className="note bad">
                    <Icon name="x" />
                    <div>
                      <p>{error}</p>
                      <p className="xs">
                        <code>{reason}</code>
                      </p>
                    </div>
                  </div>
                )}
                {spec && <Parts parts={spec.parts} />}
                {spec && <Charge spec={spec} requisition={requisition} />}
              </>
            )}
          </Loaded>
        )}
      </div>
    </section>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <bdi>{value}</bdi>
      </dd>
    </>
  );
}

function computedBy({ protocolConfig = {}, duchies, fulfillingDuchy }: Requisition): string {
  const { direct, honestMajorityShareShuffle: shuffle } = protocolConfig;
  if (direct) return 'you alone: your answer goes to the advertiser, encrypted';
  const taker =
    fulfillingDuchy && duchies
      ? `your data goes to ${idOf(fulfillingDuchy)}`
      : 'the duchies are not ready yet';
  return `${shuffle ? 'three duchies, which share what you send' : 'duchies, from encrypted sketches'}: ${taker}`;
}

function Parts({ parts }: { parts: OpenedSpec['parts'] }) {
  return (
    <table className="fold dense">
      <thead>
        <tr>
          <th>Events</th>
          <th>Days</th>
          <th>Filter</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ eventGroup, interval, filter }) => (
          <tr key={eventGroup ?? 'population'}>
            <td>
              {eventGroup === undefined ? (
                'the population'
              ) : (
                <A to={`/event-groups/${idOf(eventGroup)}`}>
                  <Reference name={eventGroup} />
                </A>
              )}
            </td>
            <td data-l="Days">{interval && dateRange(interval.start, interval.end)}</td>
            <td data-l="Filter">
              {filter ? (
                <code>
                  <bdi>{filter}</bdi>
                </code>
              ) : (
                'all events'
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Shows the share of the privacy budget that the request costs for each event group reference on each day. */
function Charge({ spec, requisition }: { spec: OpenedSpec; requisition: Requisition }) {
  const { data } = useBudget();
  const view = data === undefined || 'missing' in data ? undefined : data.view;
  const charged = view?.measurements.find((each) => each.requisition === requisition.name);
  const isCharged = useIsCharged()(requisition.name!);
  const cost = charged?.cost ?? spec.charge;
  if (cost === undefined) return null;
  const share = view?.limit && shareOf(cost, view.limit);
  const isOpen = requisition.state === 'UNFULFILLED';
  return (
    <div className="note">
      <Icon name="budget" />
      <div>
        {charged ? 'It cost' : isOpen ? 'Answering costs' : 'An answer would have cost'}{' '}
        {share !== undefined && <b>{costWords(share)} of the budget of each day and reference</b>} (
        {amountWords(cost)}){charged ? ', which stays spent.' : '.'}
        {isCharged === false && (isOpen ? ' Nothing was charged yet.' : ' Nothing was charged.')}
      </div>
    </div>
  );
}
