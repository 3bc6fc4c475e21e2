/** Creates or changes an event group. If somebody else changed it in the meantime, shows both versions. */
import type { EventGroup } from '@measurement-exchange/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useResource } from '../../live/useResource.ts';
import { newRequestId } from '../../parts/newRequestId.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { ErrorNote, Loaded } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { ChangedMeanwhile } from './ChangedMeanwhile.tsx';
import { EventGroupForm } from './EventGroupForm.tsx';
import { type Draft, differencesOf, draftOf, inputOf, problemsOf } from './eventGroupDraft.ts';
import { useEventGroup } from './eventGroups.ts';
import { FindingList } from './FindingList.tsx';

export default function EditEventGroup() {
  const { id } = useParams({ strict: false }) as { id?: string };
  return id === undefined ? <Editor /> : <ExistingEditor id={id} />;
}

function ExistingEditor({ id }: { id: string }) {
  const query = useEventGroup(id);
  return (
    <>
      {query.data === undefined && <PageHead title={`Edit event group ${id}`} />}
      <Loaded query={query}>{(group) => <Editor key={id} latest={group} />}</Loaded>
    </>
  );
}

/**
 * `latest` is the newest version at the exchange. `base` is the version that saving the draft would replace. Both are
 * undefined for a new event group.
 */
function Editor({ latest }: { latest?: EventGroup }) {
  const [base, setBase] = useState(latest);
  const [draft, setDraft] = useState(() => draftOf(latest));
  const [tried, setTried] = useState(false);
  const problems = useMemo(() => problemsOf(draft), [draft]);
  const consumers = useConsumers();
  const save = useSave(base);
  const isStale = latest?.updateTime !== base?.updateTime;
  const title = base ? `Edit ${base.eventGroupReferenceId || idOf(base.name!)}` : 'Describe an event group';
  const submit = () => {
    setTried(true);
    if (problems.size === 0) void save.run(draft);
  };
  // After a save, `latest` is the saved version until the page changes.
  const theirs = save.changed ?? (isStale && !save.busy ? latest : undefined);
  return (
    <>
      <PageHead
        title={title}
        above={
          base
            ? { to: `/event-groups/${idOf(base.name!)}`, text: base.eventGroupReferenceId || 'Event group' }
            : { to: '/event-groups', text: 'Event groups' }
        }
      />
      {theirs && (
        <ChangedMeanwhile
          differences={differencesOf(draftOf(theirs), draft)}
          time={theirs.updateTime}
          takeTheirs={() => {
            setBase(theirs);
            setDraft(draftOf(theirs));
            save.reset();
          }}
          keepMine={() => {
            setBase(theirs);
            save.reset();
          }}
        />
      )}
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="in-card stack wide">
          <EventGroupForm
            draft={draft}
            change={(next) => {
              setDraft(next);
              if (save.findings || save.error) save.reset();
            }}
            problems={tried ? problems : new Map()}
            consumers={consumers}
            isNew={base === undefined}
          />
          {save.error && <ErrorNote error={save.error} />}
          <FindingList findings={save.findings} />
          <div className="row">
            <button type="submit" className="btn main" disabled={save.busy || theirs !== undefined}>
              {save.findings ? 'Save anyway' : base ? 'Save changes' : 'Describe event group'}
            </button>
            {theirs && <span className="sm soft">Choose a version first.</span>}
            {tried && problems.size > 0 && <span className="sm bad">{[...problems.values()][0]}</span>}
          </div>
        </div>
      </form>
    </>
  );
}

function useConsumers(): string[] {
  const query = useResource('eventGroups', ['consumers'], async ({ client, principal }, signal) => {
    const { eventGroups } = await client.listEventGroups({ parent: principal, pageSize: 200, signal }).page();
    return [...new Set(eventGroups.map(({ measurementConsumer }) => idOf(measurementConsumer)))].sort();
  });
  return query.data ?? [];
}

interface SaveState {
  busy?: boolean;
  error?: Error;
  changed?: EventGroup;
  /** Warnings from the exchange. The next attempt saves despite the warnings. */
  findings?: EventGroup['findings'];
}

/**
 * Returns the function `run`, which saves a draft. If the event group has changed since `base` was read, `run` sets
 * `changed` instead. If the exchange has warnings and none are shown yet, `run` sets `findings` instead.
 */
function useSave(base: EventGroup | undefined) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [requestId] = useState(newRequestId);
  const [state, setState] = useState<SaveState>({});
  const write = (draft: Draft, validateOnly: boolean) => {
    const body = inputOf(draft, base);
    return base === undefined
      ? client.createEventGroup({
          parent: principal,
          body,
          validateOnly,
          ...(!validateOnly && { requestId }),
        })
      : client.updateEventGroup({ name: base.name!, body, validateOnly });
  };
  const obstacle = async (draft: Draft): Promise<SaveState | undefined> => {
    const current = base && (await client.getEventGroup({ name: base.name! }));
    if (current?.updateTime !== base?.updateTime) return { changed: current! };
    if (state.findings !== undefined) return undefined;
    const { findings = [] } = await write(draft, true);
    return findings.length > 0 ? { findings } : undefined;
  };
  const run = async (draft: Draft) => {
    setState({ ...state, busy: true });
    try {
      const found = await obstacle(draft);
      if (found !== undefined) return setState(found);
      const saved = await write(draft, false);
      await queries.invalidateQueries({ queryKey: [principal, 'eventGroups'] });
      await navigate({ to: `/event-groups/${idOf(saved.name!)}` as '.' });
    } catch (error) {
      setState({ error: error as Error });
    }
  };
  return { ...state, run, reset: () => setState({}) };
}
