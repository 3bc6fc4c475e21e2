import type { Population } from '@measurement-exchange/contract';
import { type FormEvent, useState } from 'react';
import { ErrorNote } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import { useRefresh } from '../data.ts';
import { parseRanges } from './ranges.ts';

interface Fields {
  id: string;
  displayName: string;
  ranges: string;
  modelLines: string;
  isDefault: boolean;
}

export function PopulationForm({
  population,
  currentDefault,
  onDone,
}: {
  population?: Population;
  currentDefault: Population | undefined;
  onDone: () => void;
}) {
  const { client } = useSession();
  const refresh = useRefresh();
  const empty: Fields = {
    id: '',
    displayName: population?.displayName ?? '',
    ranges: '',
    modelLines: population?.modelLines?.join('\n') ?? '',
    isDefault: population?.default ?? false,
  };
  const [fields, setFields] = useState(empty);
  const [error, setError] = useState<Error>();
  const [done, setDone] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(undefined);
    setDone('');
    const { id, displayName, ranges, isDefault } = fields;
    const modelLines = fields.modelLines
      .split(/[\n,]/)
      .map((line) => line.trim())
      .filter(Boolean);
    const body = { displayName, modelLines, default: isDefault };
    try {
      if (population) await client.updatePopulation({ name: population.name!, body });
      else {
        const vidRanges = parseRanges(ranges);
        await client.createPopulation({
          ...(id !== '' && { populationId: id }),
          body: { ...body, vidRanges },
        });
      }
      setDone(population ? 'Changed' : `${id || 'The population'} is registered`);
      if (!population) setFields(empty);
      await refresh();
      onDone();
    } catch (error) {
      setError(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="card">
      <header>
        <h2>
          {population
            ? `Change ${population.displayName || idOf(population.name!)}`
            : 'Register a population'}
        </h2>
      </header>
      <form className="in-card stack" onSubmit={(event) => void submit(event)}>
        <FormFields fields={fields} isNew={!population} onChange={setFields} />
        <DefaultChoice
          checked={fields.isDefault}
          replaces={currentDefault?.name === population?.name ? undefined : currentDefault}
          onChange={(isDefault) => setFields({ ...fields, isDefault })}
        />
        {error && <ErrorNote error={error} />}
        <div className="row">
          <button
            className="btn main"
            type="submit"
            disabled={busy || (!population && fields.ranges.trim() === '')}
          >
            {population ? 'Save changes' : 'Register population'}
          </button>
          {population && (
            <button className="btn" type="button" onClick={onDone}>
              Keep it as it is
            </button>
          )}
          <span className="hint" role="status">
            {done || (!population && fields.ranges.trim() === '' ? 'Waits for the ranges' : '')}
          </span>
        </div>
      </form>
    </section>
  );
}

function FormFields({
  fields,
  isNew,
  onChange,
}: {
  fields: Fields;
  isNew: boolean;
  onChange: (fields: Fields) => void;
}) {
  const bind = (name: 'id' | 'displayName' | 'ranges' | 'modelLines') => ({
    id: `population-${name}`,
    value: fields[name],
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => onChange({ ...fields, [name]: event.target.value }),
  });
  return (
    <>
      <div className="field">
        <label htmlFor="population-displayName">Display name</label>
        <input className="in" {...bind('displayName')} />
      </div>
      {isNew && (
        <>
          <div className="field">
            <label htmlFor="population-id">ID</label>
            <input className="in mono" {...bind('id')} placeholder="adults" />
            <span className="hint">Leave it empty, and the exchange assigns one</span>
          </div>
          <div className="field">
            <label htmlFor="population-ranges">Ranges of VIDs</label>
            <textarea className="in mono" rows={2} {...bind('ranges')} placeholder="1-60000000" />
            <span className="hint">First and last, one range per line. They never change afterward</span>
          </div>
        </>
      )}
      <div className="field">
        <label htmlFor="population-modelLines">Model lines</label>
        <textarea className="in mono" rows={2} {...bind('modelLines')} />
        <span className="hint">One per line. Measurements that name one of them count these people</span>
      </div>
    </>
  );
}

function DefaultChoice({
  checked,
  replaces,
  onChange,
}: {
  checked: boolean;
  replaces: Population | undefined;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label className="pick">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span>
        <b>Default</b>
        <span className="sm soft">
          Measurements without a model line count these people
          {checked && replaces && (
            <>
              , and no longer those of <bdi>{replaces.displayName || idOf(replaces.name!)}</bdi>
            </>
          )}
          .
        </span>
      </span>
    </label>
  );
}
