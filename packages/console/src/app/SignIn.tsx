/** The sign-in page. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ServedBy } from '../companion/methods.ts';
import { CommandLine } from '../parts/CommandLine.tsx';
import { Icon } from '../parts/Icon.tsx';
import { partyName } from '../parts/names.ts';
import { ErrorNote } from '../parts/states.tsx';
import { ROLE_WORDS, roleOf } from '../session/roles.ts';
import { type Caller, openSession, type Session } from '../session/session.ts';
import { type Issuer, SignInCancelled, signIn } from '../session/signIn.ts';
import './signIn.css';
import { Brand } from './Brand.tsx';
import { Pitch } from './Pitch.tsx';
import { toggleTheme } from './theme.tsx';

interface SignInProps {
  servedBy: ServedBy;
  sessions: readonly Session[];
  onSession: (session: Session) => void;
}

export function SignIn({ servedBy, sessions, onSession }: SignInProps) {
  const { identities = [], issuers = [] } = servedBy;
  const { enter, cancel, error, waiting } = useEnter(servedBy, onSession);
  const only = identities.length === 1 && sessions.length === 0 ? identities[0]!.id : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: enters once, when the page opens
  useEffect(() => {
    if (only !== undefined) void enter(() => ({ identity: only }));
  }, [only]);
  useEffect(() => {
    document.title = 'Sign in · Measurement Exchange';
  }, []);
  return (
    <>
      <a className="skip" href="#main">
        Skip to sign-in
      </a>
      <div className="signin">
        <aside>
          <Brand link={false} />
          <Pitch />
        </aside>
        <main id="main">
          <div>
            {error && <ErrorNote error={error} />}
            {waiting === 'window' ? (
              <Waiting cancel={cancel} />
            ) : (
              <>
                {sessions.length > 0 && <Earlier sessions={sessions} onSession={onSession} />}
                {identities.length > 0 && (
                  <Identities
                    identities={identities}
                    busy={!!waiting}
                    pick={(identity) => void enter(() => ({ identity }))}
                  />
                )}
                {issuers.map((issuer) => (
                  <IssuerChoice
                    key={issuer.issuer}
                    issuer={issuer}
                    busy={!!waiting}
                    pick={(principal) =>
                      void enter(
                        (signal) => signIn(issuer, { signal, ...(principal && { principal }) }),
                        !principal,
                      )
                    }
                  />
                ))}
              </>
            )}
            {servedBy.by === 'exchange' && !servedBy.companion && <OwnMachine />}
            <div className="row xs muted">
              <a href="/docs">API reference</a>
              <span>Version {servedBy.version}</span>
              <button className="btn sm plain" type="button" onClick={toggleTheme}>
                <Icon name="theme" /> Light or dark
              </button>
            </div>
          </div>
        </main>
      </div>
    </>
  );
}

/**
 * Returns `enter`, which opens a session, and `cancel`, which ends the sign-in. While `enter` runs, `waiting` is
 * `window` if the user signs in at the issuer in a separate window, and `session` otherwise.
 */
function useEnter(servedBy: ServedBy, onSession: (session: Session) => void) {
  const [error, setError] = useState<Error>();
  const [waiting, setWaiting] = useState<'window' | 'session'>();
  const giveUp = useRef<AbortController>(undefined);
  const enter = async (caller: (signal: AbortSignal) => Promise<Caller> | Caller, inWindow = false) => {
    giveUp.current = new AbortController();
    setWaiting(inWindow ? 'window' : 'session');
    setError(undefined);
    try {
      onSession(await openSession(servedBy, await caller(giveUp.current.signal)));
    } catch (error) {
      const isOurs = error instanceof SignInCancelled && giveUp.current.signal.aborted;
      if (!isOurs) setError(error as Error);
    } finally {
      setWaiting(undefined);
    }
  };
  return { enter, cancel: () => giveUp.current?.abort(), error, waiting };
}

function Waiting({ cancel }: { cancel: () => void }) {
  return (
    <div className="stack" role="status">
      <h2>Continue in the other window</h2>
      <p className="sm soft">
        You sign in at your organization's page. It closes by itself when you are done.
      </p>
      <div>
        <button type="button" className="btn" onClick={cancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}

function Choice({
  name,
  about,
  busy,
  pick,
}: {
  name: string;
  about: string;
  busy: boolean;
  pick: () => void;
}) {
  return (
    <button type="button" className="party" disabled={busy} onClick={pick}>
      <span className="mark">{name.slice(0, 2).toUpperCase()}</span>
      <span>
        <b>
          <bdi>{name}</bdi>
        </b>
        <span className="sub">{about}</span>
      </span>
      <Icon name="right" />
    </button>
  );
}

function Section({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section className="stack">
      <div className="stack tight">
        <h2>{title}</h2>
        <p className="sm soft">{about}</p>
      </div>
      <div className="stack tight">{children}</div>
    </section>
  );
}

function Earlier({ sessions, onSession }: Pick<SignInProps, 'sessions' | 'onSession'>) {
  return (
    <Section title="Signed in here" about="These stay signed in until you close this page.">
      {sessions.map((session) => (
        <Choice
          key={session.principal}
          name={partyName(session.principal)}
          about={ROLE_WORDS[session.role]}
          busy={false}
          pick={() => onSession(session)}
        />
      ))}
    </Section>
  );
}

const ROLE_TASKS = {
  consumer: 'Advertiser: ask, see results',
  provider: 'Publisher: answer, watch the budget',
  duchy: 'Duchy: computations and stages',
  operator: 'Runs the exchange',
};

type Identities = NonNullable<ServedBy['identities']>;

function Identities({
  identities,
  busy,
  pick,
}: {
  identities: Identities;
  busy: boolean;
  pick: (id: string) => void;
}) {
  return (
    <Section
      title="Ready on this computer"
      about="The link was used once and is closed to everyone else. Keys stay here."
    >
      {identities.map(({ id, principal, keys }) => (
        <Choice
          key={id}
          name={partyName(principal)}
          about={keys ? ROLE_WORDS[roleOf(principal)] : `${ROLE_TASKS[roleOf(principal)]}, no keys here`}
          busy={busy}
          pick={() => pick(id)}
        />
      ))}
    </Section>
  );
}

function IssuerChoice({
  issuer,
  busy,
  pick,
}: {
  issuer: Issuer;
  busy: boolean;
  pick: (principal?: string) => void;
}) {
  if (issuer.parties === undefined) {
    return (
      <Section title="Sign in" about="You continue at your organization's sign-in page and come back here.">
        <button type="button" className="btn main block" disabled={busy} onClick={() => pick()}>
          <Icon name="right" /> Continue with {issuer.name}
        </button>
      </Section>
    );
  }
  return (
    <Section
      title="Pick a demo party"
      about="This is a development exchange. No password: each choice signs you in with demo keys."
    >
      {issuer.parties.map(({ principal, displayName }) => (
        <Choice
          key={principal}
          name={displayName}
          about={ROLE_TASKS[roleOf(principal)]}
          busy={busy}
          pick={() => pick(principal)}
        />
      ))}
      <p className="hint">Open several in separate tabs to watch both sides of a request.</p>
    </Section>
  );
}

function OwnMachine() {
  return (
    <>
      <div className="note">
        <Icon name="lock" />
        <div>
          <b>Keys are opened only in mex console.</b> This page comes from the exchange, so it never asks for
          a key: it shows states and dates, not questions or results. To read results, start the console on
          your own computer.
        </div>
      </div>
      <CommandLine command="mex console" />
    </>
  );
}
