/** The fields of an event group. */
import { ATTRIBUTE_TYPES, type MediaType } from '@measurement-exchange/contract';
import { type ReactNode, useId } from 'react';
import { ATTRIBUTE_WORDS, MEDIA_WORDS } from '../../parts/eventGroupWords.ts';
import { Icon } from '../../parts/Icon.tsx';
import type { AttributeDraft, Draft, DraftField } from './eventGroupDraft.ts';
import './eventGroupForm.css';

interface FormProps {
  draft: Draft;
  change: (draft: Draft) => void;
  problems: ReadonlyMap<DraftField, string>;
  consumers: readonly string[];
  /** False for an existing event group, whose advertiser the user cannot change. */
  isNew: boolean;
}

export function EventGroupForm(props: FormProps) {
  return (
    <div className="stack wide">
      <Identity {...props} />
      <hr />
      <Availability {...props} />
      <hr />
      <Attributes {...props} />
    </div>
  );
}

function Identity({ draft, change, problems, consumers, isNew }: FormProps) {
  const list = useId();
  const text = (key: 'consumer' | 'reference' | 'brand' | 'campaign') => ({
    value: draft[key],
    set: (value: string) => change({ ...draft, [key]: value }),
  });
  return (
    <div className="cols c2">
      <TextField
        {...text('consumer')}
        label="Advertiser"
        hint={
          isNew ? 'The identifier of the advertiser that may ask about these events.' : 'Cannot be changed.'
        }
        problem={problems.get('consumer')}
        disabled={!isNew}
        list={list}
      />
      <datalist id={list}>
        {consumers.map((consumer) => (
          <option key={consumer} value={consumer} />
        ))}
      </datalist>
      <TextField
        {...text('reference')}
        label="Reference"
        hint="The value that selects these events in your own files. Event groups with one reference share its budget."
        problem={problems.get('reference')}
        mono
      />
      <TextField {...text('brand')} label="Brand" hint="The advertiser searches by it." />
      <TextField {...text('campaign')} label="Campaign" hint="The advertiser searches by it." />
    </div>
  );
}

function Availability({ draft, change, problems }: FormProps) {
  const { mediaTypes } = draft;
  return (
    <div className="cols c2">
      <TextField
        type="date"
        label="First day with data"
        hint="In UTC. Leave it empty if you do not say."
        value={draft.from}
        set={(from) => change({ ...draft, from })}
        problem={problems.get('from')}
      />
      <TextField
        type="date"
        label="Last day with data"
        hint="Leave it empty while events still arrive."
        value={draft.until}
        set={(until) => change({ ...draft, until })}
        problem={problems.get('until')}
      />
      <fieldset className="field">
        <legend className="lab">Media</legend>
        <div className="checks-in-line">
          {(Object.keys(MEDIA_WORDS) as MediaType[]).map((type) => (
            <label key={type}>
              <input
                type="checkbox"
                checked={mediaTypes.includes(type)}
                onChange={({ target }) =>
                  change({
                    ...draft,
                    mediaTypes: target.checked
                      ? [...mediaTypes, type]
                      : mediaTypes.filter((each) => each !== type),
                  })
                }
              />
              {MEDIA_WORDS[type]}
            </label>
          ))}
        </div>
      </fieldset>
    </div>
  );
}

const NEW_ATTRIBUTE: AttributeDraft = { name: '', type: 'STRING', description: '', examples: '' };

function Attributes({ draft, change, problems }: FormProps) {
  const { attributes } = draft;
  const set = (next: readonly AttributeDraft[]) => change({ ...draft, attributes: next });
  const problem = problems.get('attributes');
  return (
    <fieldset className="stack">
      <legend className="lab">Attributes that filters can use</legend>
      <p className="hint">
        Names, types and examples are shown to the advertiser, who writes filters with them. Name only what
        your files have. The agent replaces them by those of its settings when it starts.
      </p>
      {attributes.map((attribute, i) => (
        <AttributeRow
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ID other than their position
          key={i}
          attribute={attribute}
          change={(next) => set(attributes.map((each, j) => (i === j ? next : each)))}
          remove={() => set(attributes.filter((_, j) => i !== j))}
        />
      ))}
      {problem && <p className="sm bad">{problem}</p>}
      <div>
        <button type="button" className="btn" onClick={() => set([...attributes, NEW_ATTRIBUTE])}>
          <Icon name="plus" /> Add an attribute
        </button>
      </div>
    </fieldset>
  );
}

function AttributeRow({
  attribute,
  change,
  remove,
}: {
  attribute: AttributeDraft;
  change: (attribute: AttributeDraft) => void;
  remove: () => void;
}) {
  const { name, type, description, examples } = attribute;
  const typeId = useId();
  return (
    <div className="attribute">
      <TextField label="Name" value={name} set={(value) => change({ ...attribute, name: value })} mono />
      <div className="field">
        <label htmlFor={typeId}>Type</label>
        <select
          id={typeId}
          className="in"
          value={type}
          onChange={({ target }) => change({ ...attribute, type: target.value as AttributeDraft['type'] })}
        >
          {ATTRIBUTE_TYPES.map((each) => (
            <option key={each} value={each}>
              {ATTRIBUTE_WORDS[each]}
            </option>
          ))}
        </select>
      </div>
      <TextField
        label="Meaning"
        value={description}
        set={(value) => change({ ...attribute, description: value })}
      />
      <TextField
        label="Examples"
        placeholder="phone, tv"
        value={examples}
        set={(value) => change({ ...attribute, examples: value })}
        mono
      />
      <button
        type="button"
        className="btn icon plain"
        aria-label={`Remove ${name}`}
        title={`Remove ${name}`}
        onClick={remove}
      >
        <Icon name="x" />
      </button>
    </div>
  );
}

interface FieldProps {
  label: string;
  value: string;
  set: (value: string) => void;
  hint?: ReactNode;
  problem?: string | undefined;
  type?: string;
  mono?: boolean;
  disabled?: boolean;
  list?: string;
  placeholder?: string;
}

function TextField({ label, value, set, hint, problem, mono, ...input }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={mono ? 'in mono' : 'in'}
        value={value}
        onChange={({ target }) => set(target.value)}
        aria-invalid={problem !== undefined}
        {...((problem ?? hint) && { 'aria-describedby': note })}
        {...input}
      />
      {(problem ?? hint) && (
        <span id={note} className={problem ? 'hint bad' : 'hint'}>
          {problem ?? hint}
        </span>
      )}
    </div>
  );
}
