/** Lists the problems that need the operator's attention, most severe first. */
import type { Doctor, ExchangeStatus, PartyHealth } from '@measurement-exchange/contract';
import { ago, day, moment } from '../../../format.ts';
import type { IconName } from '../../../parts/Icon.tsx';
import { idOf, roleOf } from '../../../session/roles.ts';
import { certificateLife } from '../certificateLife.ts';
import { partyPath } from '../data.ts';
import { countWords, statusOf } from '../health.ts';

export interface AttentionItem {
  key: string;
  tone: 'bad' | 'warn';
  icon: IconName;
  /** The party that has the problem. The page shows its label before the title. */
  party?: { name: string; label: string };
  title: string;
  detail: string;
  to: string;
  action: string;
}

export function attentionOf(
  health: readonly PartyHealth[],
  doctor: Doctor | undefined,
  status: ExchangeStatus | undefined,
  now = Date.now(),
): AttentionItem[] {
  const items = [
    ...health.flatMap((party) => ofParty(party, now)),
    ...(doctor ? ofDoctor(doctor) : []),
    ...(status ? ofReplicas(status) : []),
  ];
  const order = { bad: 0, warn: 1 };
  return items.sort((a, b) => order[a.tone] - order[b.tone]);
}

function ofParty(health: PartyHealth, now: number): AttentionItem[] {
  const { name, displayName } = health;
  const about = { party: { name, label: displayName || idOf(name) }, to: partyPath(name), action: 'Open' };
  return [silence(health, now), certificate(health, now), suspension(health), webhooks(health)].flatMap(
    (found, i) => (found ? [{ key: `${name} ${i}`, ...about, ...found }] : []),
  );
}

type Found = Pick<AttentionItem, 'tone' | 'icon' | 'title' | 'detail'> | undefined;

function silence(health: PartyHealth, now: number): Found {
  if (statusOf(health, now) !== 'silent') return undefined;
  const { name, lastSeen, open, oldestOpenTime } = health;
  const [one, many] = roleOf(name) === 'duchy' ? ['computation', 'computations'] : ['request', 'requests'];
  const waits = open.count === 1 ? `1 ${one} waits for it` : `${countWords(open)} ${many} wait for it`;
  return {
    tone: 'bad',
    icon: 'x',
    title: lastSeen ? `was last seen ${ago(lastSeen, now)}` : 'has never called',
    detail: `${waits}${oldestOpenTime ? `, the oldest since ${moment(oldestOpenTime)}` : ''}.`,
  };
}

function certificate({ certificate: current, open }: PartyHealth, now: number): Found {
  if (current === undefined) {
    const detail = 'Others cannot verify what it signs. It registers one, or you add the party again.';
    return { tone: 'warn', icon: 'key', title: 'has no certificate', detail };
  }
  const { tone, words, days } = certificateLife(current.notAfter, now);
  if (tone === undefined) return undefined;
  const title =
    days < 0
      ? `has a certificate that ended ${day(current.notAfter)}`
      : `has a certificate with ${words} left`;
  const rests = open.count > 0 ? ` ${countWords(open)} open rest on it.` : '';
  return {
    tone: tone === 'bad' ? 'bad' : 'warn',
    icon: 'key',
    title: days === 0 ? 'has a certificate that ends today' : title,
    detail: `It renews it with mex identity --renew, before ${day(current.notAfter)}.${rests}`,
  };
}

function suspension({ state, open }: PartyHealth): Found {
  if (state !== 'SUSPENDED') return undefined;
  const detail =
    open.count > 0 ? `${countWords(open)} open wait until it is resumed.` : 'Nothing waits for it.';
  return { tone: 'warn', icon: 'minus', title: 'is suspended', detail };
}

function webhooks({ webhooks: { paused, failing } }: PartyHealth): Found {
  if (paused + failing === 0) return undefined;
  const counted = (n: number) => (n === 1 ? '1 webhook' : `${n} webhooks`);
  const title = [paused && `${counted(paused)} paused`, failing && `${counted(failing)} failing`]
    .filter(Boolean)
    .join(', ');
  const detail = 'Changes wait in the log as long as it is kept. The party sees why, and resumes it.';
  return { tone: 'warn', icon: 'hook', title: `has ${title}`, detail };
}

function ofDoctor({ findings, failure }: Doctor): AttentionItem[] {
  const about = { to: '/doctor', action: 'Open', icon: 'doc' as const };
  const found = findings.map(({ check, severity, meaning, remedy }) => ({
    ...about,
    key: `doctor ${check}`,
    tone: severity === 'error' ? ('bad' as const) : ('warn' as const),
    title: meaning,
    detail: remedy,
  }));
  if (failure === undefined) return found;
  return [
    { ...about, key: 'doctor', tone: 'warn', title: 'The doctor could not run', detail: failure },
    ...found,
  ];
}

function ofReplicas({ version, replicas }: ExchangeStatus): AttentionItem[] {
  const other = replicas.filter((replica) => replica.version !== version);
  if (other.length === 0) return [];
  const title =
    other.length === 1 ? 'One replica runs another version' : `${other.length} replicas run other versions`;
  const detail = `${[...new Set(other.map((replica) => replica.version))].join(', ')} beside ${version}.`;
  return [{ key: 'replicas', tone: 'warn', icon: 'server', title, detail, to: '/replicas', action: 'Open' }];
}
