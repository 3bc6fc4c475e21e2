/** The home page of a consumer without measurements. It shows the setup steps, and links to the measurement form. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { counted, day } from '../../format.ts';
import { useResource } from '../../live/useResource.ts';
import { A } from '../../parts/A.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { capital, listed } from '../../parts/names.ts';
import { usePublishers } from '../../parts/Publisher.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { NewMeasurement } from './NewMeasurement.tsx';

export function FirstRun() {
  const { companion, principal } = useSession();
  const publisher = usePublishers();
  const groups = useResource('eventGroups', ['first'], ({ client, principal }, signal) =>
    client.listEventGroups({ parent: principal, pageSize: 200, signal }).page(),
  );
  const about = useQuery({
    queryKey: ['about', principal],
    queryFn: () => companion!.about({}),
    enabled: companion !== undefined,
  });
  const eventGroups = groups.data?.eventGroups ?? [];
  const publishers = [...new Set(eventGroups.map(({ dataProvider }) => dataProvider!))].map(
    (name) => publisher(name).label,
  );
  const { duchies = [], certificate } = about.data ?? {};
  return (
    <>
      <section className="card">
        <div className="empty">
          <svg viewBox="0 0 120 44" className="plot" aria-hidden="true">
            <line className="wh s1" x1="14" x2="106" y1="22" y2="22" />
            <line className="wh s1" x1="14" x2="14" y1="12" y2="32" />
            <line className="wh s1" x1="106" x2="106" y1="12" y2="32" />
            <circle className="pt f1" cx="66" cy="22" r="8" />
          </svg>
          <h2>Ask your first question</h2>
          <p>
            Pick publishers, pick the days, and see how exact the answer will be before you send anything.
          </p>
          <NewMeasurement />
        </div>
      </section>
      <div className="cols c3">
        <Step
          isDone={publishers.length > 0}
          title={publishers.length > 0 ? listed(publishers.slice(0, 4)) : 'No publisher yet'}
        >
          <span className="sub">described {counted(eventGroups.length, 'event group')} to you</span>
          <A className="sm" to="/catalog">
            Open the catalog
          </A>
        </Step>
        {companion && (
          <Step
            isDone={duchies.length > 0}
            title={duchies.length > 0 ? listed(duchies.map((name) => capital(idOf(name)))) : 'No duchy yet'}
          >
            <span className="sub">
              {duchies.length > 0
                ? 'are the duchies you accept'
                : 'is accepted, so publishers are counted one by one'}
            </span>
          </Step>
        )}
        {certificate && (
          <Step isDone title="Your keys">
            <span className="sub">are in place: certificate until {day(certificate.notAfter)}</span>
          </Step>
        )}
      </div>
    </>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <section className="card">
      <div className="in-card row">
        <span className={isDone ? 'num-step done' : 'num-step'}>
          <Icon name={isDone ? 'check' : 'minus'} />
        </span>
        <span>
          <b>
            <bdi>{title}</bdi>
          </b>
          {children}
        </span>
      </div>
    </section>
  );
}
