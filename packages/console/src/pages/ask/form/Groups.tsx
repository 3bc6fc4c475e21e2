/** The step of the form that picks publishers and event groups. */
import type { EventGroup } from '@measurement-exchange/contract';
import { useMemo, useState } from 'react';
import { A } from '../../../parts/A.tsx';
import { Swatch } from '../../../parts/Chart.tsx';
import { idOf } from '../../../session/roles.ts';
import { GROUP_HEADS, GroupCells } from '../catalog/GroupCells.tsx';
import { type Asked, labelOf, useByPublisher } from './catalogue.ts';
import { publisherCount } from './checks.ts';
import { Step } from './Step.tsx';
import type { Picking } from './usePicking.ts';

/** The maximum number of event groups to show besides the picked ones. A search finds the others. */
const MAX_SHOWN = 200;
const SEARCH_FROM = 13;

export function Groups({ ask }: { ask: Picking }) {
  const { catalogue, picked, publishers, form } = ask;
  const [text, setText] = useState('');
  const listed = useMemo(() => [...catalogue.groups.values()], [catalogue.groups]);
  const all = useByPublisher(listed);
  const { found, hidden } = search(all, text, new Set(form.groups));
  return (
    <Step
      id="groups"
      number={2}
      title="Publishers and event groups"
      hint="From the catalog: what each publisher has described to you."
      done={picked.length > 0}
    >
      {catalogue.groups.size >= SEARCH_FROM && (
        <input
          className="in"
          type="search"
          aria-label="Find an event group"
          placeholder="Find by publisher, reference or campaign"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <GroupTable ask={ask} publishers={found} />
      {hidden > 0 && <p className="hint">{hidden} more. Type to find them.</p>}
      {!catalogue.isWhole && (
        <p className="hint">
          The first {catalogue.groups.size} event groups are listed. Find others in the{' '}
          <A to="/catalog">catalog</A>.
        </p>
      )}
      <p className="hint" role="status">
        {picked.length > 0
          ? `${publisherCount(publishers.length)}, ${picked.length} event ${picked.length === 1 ? 'group' : 'groups'}.`
          : 'Nothing is picked yet.'}
      </p>
    </Step>
  );
}

/**
 * Returns the picked event groups, and at most MAX_SHOWN other event groups that match the text. `hidden` is the number
 * of further matches.
 */
export function search(
  all: readonly Asked[],
  text: string,
  picked: ReadonlySet<string>,
): { found: Asked[]; hidden: number } {
  const wanted = text.trim().toLowerCase();
  const isPicked = (group: EventGroup) => picked.has(idOf(group.name!));
  const isFound = (publisher: Asked, group: EventGroup) => {
    const { brandName = '', campaignName = '' } = group.eventGroupMetadata?.adMetadata.campaignMetadata ?? {};
    const texts = [publisher.label, labelOf(group), brandName, campaignName];
    return texts.some((of) => of.toLowerCase().includes(wanted));
  };
  let left = MAX_SHOWN;
  let hidden = 0;
  const found = all.flatMap((publisher) => {
    const matching = publisher.groups.filter((group) => isPicked(group) || isFound(publisher, group));
    const others = matching.filter((group) => !isPicked(group));
    const shown = new Set(others.slice(0, left));
    left -= shown.size;
    hidden += others.length - shown.size;
    const groups = matching.filter((group) => isPicked(group) || shown.has(group));
    return groups.length > 0 ? [{ ...publisher, groups }] : [];
  });
  return { found, hidden };
}

function GroupTable({ ask, publishers }: { ask: Picking; publishers: readonly Asked[] }) {
  return (
    <table className="fold dense ask-groups">
      <thead>
        <tr>
          <th>Event group</th>
          {GROUP_HEADS}
        </tr>
      </thead>
      {publishers.map((publisher) => (
        <tbody key={publisher.name}>
          <PublisherRow ask={ask} publisher={publisher} />
          {ask.form.type !== 'population' &&
            publisher.groups.map((group) => <GroupRow key={group.name} ask={ask} group={group} />)}
        </tbody>
      ))}
    </table>
  );
}

function PublisherRow({ ask: { form, change }, publisher }: { ask: Picking; publisher: Asked }) {
  const ids = publisher.groups.map(({ name }) => idOf(name!));
  const count = ids.filter((id) => form.groups.includes(id)).length;
  const toggle = (isPicked: boolean) => {
    const others = form.groups.filter((id) => !ids.includes(id));
    change({ groups: isPicked ? [...others, ...ids] : others });
  };
  return (
    <tr className="of">
      <td colSpan={4} className="full">
        <label className="row">
          <input
            type="checkbox"
            checked={count === ids.length}
            ref={(box) => {
              if (box) box.indeterminate = count > 0 && count < ids.length;
            }}
            onChange={(event) => toggle(event.target.checked)}
          />
          <span className="tag">
            <Swatch index={publisher.index} />
            <bdi>{publisher.label}</bdi>
          </span>
        </label>
      </td>
    </tr>
  );
}

function GroupRow({ ask: { form, change }, group }: { ask: Picking; group: EventGroup }) {
  const id = idOf(group.name!);
  const toggle = (isPicked: boolean) =>
    change({ groups: isPicked ? [...form.groups, id] : form.groups.filter((other) => other !== id) });
  return (
    <tr>
      <td>
        <label className="row">
          <input
            type="checkbox"
            checked={form.groups.includes(id)}
            onChange={(event) => toggle(event.target.checked)}
          />
          <code className="cut">
            <bdi>{labelOf(group)}</bdi>
          </code>
        </label>
      </td>
      <GroupCells group={group} />
    </tr>
  );
}
