import type { AgentStatus } from '@measurement-exchange/sdk/provider';
import type { AgentView } from '../../companion/methods.ts';
import { ago, count, duration, moment } from '../../format.ts';
import { Chip } from '../../parts/Chip.tsx';
import { CommandLine } from '../../parts/CommandLine.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';

type Health = 'running' | 'unreachable' | 'starting' | 'stopped' | 'none';

function healthOf(agent: AgentStatus | undefined, now = Date.now()): Health {
  if (agent === undefined) return 'none';
  if (agent.endTime !== undefined) return 'stopped';
  if (agent.unreachable !== undefined) return 'unreachable';
  if (agent.overdueTime === undefined) return 'starting';
  return now > Date.parse(agent.overdueTime) ? 'stopped' : 'running';
}

const LOOKS = {
  running: ['ok', 'check', 'Running'],
  unreachable: ['bad', 'x', 'Cannot reach the exchange'],
  starting: ['run', 'run', 'Starting'],
  stopped: ['bad', 'x', 'Not running'],
  none: ['warn', 'clock', 'Never started'],
} as const;

export function AgentState({ view: { agent } }: { view: AgentView }) {
  const { principal } = useSession();
  const health = healthOf(agent);
  const [tone, icon, word] = LOOKS[health];
  const isDown = health === 'stopped' || health === 'none';
  return (
    <section className="card">
      <header>
        <h2>Agent</h2>
        <Chip tone={tone} icon={icon}>
          {word}
        </Chip>
      </header>
      <div className="in-card stack">
        {agent?.unreachable !== undefined && (
          <div className="note bad">
            <Icon name="x" />
            <div>
              <bdi>{agent.unreachable}</bdi>
            </div>
          </div>
        )}
        {agent && <AgentFacts agent={agent} />}
        {isDown && <p>Requests wait until it runs. Start it:</p>}
        <CommandLine
          command={
            isDown ? 'mex provider run --config provider.json' : `mex provider status --as ${idOf(principal)}`
          }
        />
      </div>
    </section>
  );
}

function AgentFacts({ agent }: { agent: AgentStatus }) {
  const { startTime, pollTime, open, oldestOpen, waiting, counts } = agent;
  const failed = counts.retrying + counts.rejected;
  const lag = oldestOpen && Date.now() - Date.parse(oldestOpen.createTime);
  return (
    <dl className="kv">
      <dt>Last seen</dt>
      <dd>{pollTime ? ago(pollTime) : 'it has not reached the exchange yet'}</dd>
      <dt>Running since</dt>
      <dd>{moment(startTime)}</dd>
      <dt>Open now</dt>
      <dd>
        {count(open)}
        {waiting > 0 &&
          (waiting === open ? ', to be tried again' : `, ${count(waiting)} of them to be tried again`)}
      </dd>
      <dt>Delay</dt>
      <dd>{lag === undefined ? 'none: nothing is open' : `the oldest waits for ${duration(lag)}`}</dd>
      <dt>Since its start</dt>
      <dd>
        {count(counts.fulfilled)} answered, {count(counts.refused)} refused, {count(failed)} failed attempts
      </dd>
    </dl>
  );
}
