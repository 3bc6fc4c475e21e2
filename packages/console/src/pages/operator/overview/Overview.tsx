/** The operator's home page: problems that need attention, then current activity. */
import type { Count, ExchangeStatus, PartyHealth } from '@measurement-exchange/contract';
import { count } from '../../../format.ts';
import { A } from '../../../parts/A.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { ErrorNote, Loaded } from '../../../parts/states.tsx';
import { useDoctor, useExchangeStatus, useHealth } from '../data.ts';
import { countWords } from '../health.ts';
import '../operator.css';
import { PartyTable } from '../parties/PartyTable.tsx';
import { type AttentionItem, attentionOf } from './attention.ts';

const SHOWN_PARTIES = 12;
const SHOWN_ITEMS = 8;

export default function Overview() {
  const [health, doctor, status] = [useHealth(), useDoctor(), useExchangeStatus()];
  const items = attentionOf(health.data ?? [], doctor.data, status.data);
  return (
    <>
      <PageHead
        title="Exchange overview"
        meta={[
          health.data && <Findings key="f" count={items.length} />,
          status.data && `version ${status.data.version}, ${status.data.mode}`,
          status.data && <Replicas key="r" status={status.data} />,
        ].filter(Boolean)}
        actions={
          <A className="btn main" to="/parties/add">
            <Icon name="plus" /> Add a party
          </A>
        }
      />
      <section className="card">
        <header>
          <h2>Needs your attention</h2>
        </header>
        <Loaded query={health}>
          {() => <AttentionList items={items} wasChecked={doctor.data?.endTime !== undefined} />}
        </Loaded>
        {doctor.error && <ErrorNote error={doctor.error} />}
      </section>
      <Loaded query={status}>{(status) => <Figures status={status} health={health.data ?? []} />}</Loaded>
      <section className="card">
        <header>
          <h2>Parties</h2>
          <p>Who is there, and how much waits for them. You see no requests, results or event groups.</p>
        </header>
        <Loaded query={health}>
          {(health) => (
            <>
              <PartyTable health={health.slice(0, SHOWN_PARTIES)} />
              <footer>
                <span>
                  {Math.min(SHOWN_PARTIES, health.length)} of {count(health.length)} parties
                </span>
                <A to="/parties">All parties</A>
              </footer>
            </>
          )}
        </Loaded>
      </section>
    </>
  );
}

function Findings({ count: found }: { count: number }) {
  return found === 0 ? (
    <Chip tone="ok" icon="check">
      Nothing needs you
    </Chip>
  ) : (
    <Chip tone="warn" icon="clock">
      {found === 1 ? '1 finding' : `${found} findings`}
    </Chip>
  );
}

function Replicas({ status: { replicas, schema } }: { status: ExchangeStatus }) {
  return (
    <A to="/replicas">
      {replicas.length === 1 ? '1 replica' : `${replicas.length} replicas`}, migration {schema.migration}
    </A>
  );
}

function AttentionList({ items, wasChecked }: { items: AttentionItem[]; wasChecked: boolean }) {
  if (items.length === 0) {
    return (
      <p className="in-card soft">
        <Icon name="check" tone="ok" /> Every party was seen or has nothing to do, no certificate ends soon,
        and all webhooks deliver.{' '}
        {wasChecked ? 'The doctor found nothing.' : <A to="/doctor">The doctor has not run yet</A>}
      </p>
    );
  }
  return (
    <>
      <ul className="att">
        {items.slice(0, SHOWN_ITEMS).map(({ key, tone, icon, party, title, detail, to, action }) => (
          <li key={key}>
            <Icon name={icon} tone={tone} />
            <div>
              <b>
                {party && <bdi>{party.label}</bdi>} {title}
              </b>
              <p className="sm soft">{detail}</p>
            </div>
            <div className="acts">
              <A className="btn sm" to={to}>
                {action}
                <span className="sr"> {party?.label ?? title}</span>
              </A>
            </div>
          </li>
        ))}
      </ul>
      {items.length > SHOWN_ITEMS && (
        <footer>
          <A to="/parties">{items.length - SHOWN_ITEMS} more</A>
        </footer>
      )}
    </>
  );
}

function Figures({
  status: { measurements },
  health,
}: {
  status: ExchangeStatus;
  health: readonly PartyHealth[];
}) {
  const inCollection = (collection: string) =>
    count(health.filter(({ name }) => name.startsWith(`${collection}/`)).length);
  const of = (list: typeof measurements.open, state: string): Count =>
    list.find((each) => each.state === state) ?? { count: 0 };
  const [waiting, computing] = ['AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING'].map((s) =>
    of(measurements.open, s),
  );
  const [succeeded, failed, canceled] = ['SUCCEEDED', 'FAILED', 'CANCELLED'].map((s) =>
    of(measurements.ended, s),
  );
  const open = { count: waiting!.count + computing!.count, more: Boolean(waiting!.more || computing!.more) };
  return (
    <div className="cols c3 figures">
      <Figure label="Open measurements" value={countWords(open)}>
        {countWords(waiting!)} waiting, {countWords(computing!)} computing
      </Figure>
      <Figure label="Answered in 24 h" value={countWords(succeeded!)}>
        {countWords(failed!)} failed ({countWords(measurements.refused)} refused), {countWords(canceled!)}{' '}
        canceled
      </Figure>
      <Figure label="Parties" value={count(health.length)}>
        {inCollection('measurementConsumers')} advertisers, {inCollection('dataProviders')} publishers,{' '}
        {inCollection('duchies')} duchies
      </Figure>
    </div>
  );
}

function Figure({ label, value, children }: { label: string; value: string; children: React.ReactNode }) {
  return (
    <section className="card">
      <div className="in-card stat">
        <span className="lab">{label}</span>
        <span className="mid">{value}</span>
        <span className="xs muted">{children}</span>
      </div>
    </section>
  );
}
