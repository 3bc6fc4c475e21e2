/** Populations of virtual people, which measurements can count across publishers. */
import type { Population } from '@measurement-exchange/contract';
import { useState } from 'react';
import { count, day } from '../../../format.ts';
import { useResource } from '../../../live/useResource.ts';
import { Chip } from '../../../parts/Chip.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { WHOLE_LIST } from '../data.ts';
import '../operator.css';
import { PopulationForm } from './PopulationForm.tsx';

export default function Populations() {
  const query = useResource('populations', ['all'], ({ client }, signal) =>
    Array.fromAsync(client.listPopulations({ ...WHOLE_LIST, signal })),
  );
  const [editing, setEditing] = useState<Population>();
  return (
    <>
      <PageHead
        title="Populations"
        meta={[
          'All publishers of a measurement must label people with the VIDs of its population, by the same model',
        ]}
      />
      <div className="cols c75 top-aligned">
        <section className="card">
          <header>
            <h2>Registered</h2>
            <p>
              The ranges of a population never change. You can change its name, its model lines and the
              default.
            </p>
          </header>
          <Loaded query={query}>
            {(populations) =>
              populations.length === 0 ? (
                <Empty title="No population yet">
                  <p>People are counted across publishers only within a population.</p>
                </Empty>
              ) : (
                <PopulationTable populations={populations} edit={setEditing} />
              )
            }
          </Loaded>
        </section>
        <PopulationForm
          key={editing?.name ?? 'new'}
          {...(editing && { population: editing })}
          currentDefault={query.data?.find((population) => population.default)}
          onDone={() => setEditing(undefined)}
        />
      </div>
    </>
  );
}

function PopulationTable({
  populations,
  edit,
}: {
  populations: readonly Population[];
  edit: (population: Population) => void;
}) {
  return (
    <table className="fold">
      <thead>
        <tr>
          <th>Population</th>
          <th>State</th>
          <th className="num">People</th>
          <th>Model lines</th>
          <th>Since</th>
          <th>
            <span className="sr">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {populations.map((population) => (
          <tr key={population.name}>
            <td>
              <b>
                <bdi>{population.displayName || idOf(population.name!)}</bdi>
              </b>
              <span className="sub mono">{population.name}</span>
            </td>
            <td data-l="State">
              {population.default && (
                <Chip tone="ok" icon="check">
                  Default
                </Chip>
              )}
            </td>
            <td data-l="People" className="num">
              {population.size !== undefined && count(population.size)}
              <span className="sub">
                {population.vidRanges.length === 1
                  ? '1 range'
                  : `${count(population.vidRanges.length)} ranges`}
              </span>
            </td>
            <td data-l="Model lines">
              {population.modelLines?.length ? (
                <bdi className="mono">{population.modelLines.join(', ')}</bdi>
              ) : (
                <span className="muted">none</span>
              )}
            </td>
            <td data-l="Since" className="nowrap">
              {population.createTime && day(population.createTime)}
            </td>
            <td data-l="" className="num">
              <button type="button" className="btn sm" onClick={() => edit(population)}>
                Change<span className="sr"> {population.displayName || population.name}</span>
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
