import { type Computation, liquidLegionsOf } from '@measurement-exchange/contract';
import { count } from '../../parts/format.ts';
import { specWords } from '../../parts/specWords.ts';
import { idOf } from '../../session/roles.ts';

/** The parameters that the consumer signed, and those of the protocol. */
export function Facts({ computation }: { computation: Computation }) {
  const { measurementSpec, name, traceparent } = computation;
  const facts: [string, string][] = [
    ...specWords(measurementSpec.message)!.facts,
    ...protocolFacts(computation),
    ...(traceparent ? [['Trace', traceparent] satisfies [string, string]] : []),
    ['Name', name!],
  ];
  return (
    <section className="card">
      <header>
        <h2>Parameters</h2>
      </header>
      <div className="in-card">
        <dl className="kv">
          {facts.map(([label, value]) => (
            <Fact key={label} label={label} value={value} />
          ))}
        </dl>
      </div>
    </section>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <bdi>{value}</bdi>
      </dd>
    </>
  );
}

function protocolFacts({ protocolConfig }: Computation): [string, string][] {
  const { honestMajorityShareShuffle: shuffle } = protocolConfig;
  if (shuffle) {
    return [
      ['Protocol', 'Shares, shuffled'],
      ['Noise', shuffle.noiseMechanism],
      ['Population', idOf(shuffle.population)],
    ];
  }
  const legions = liquidLegionsOf(protocolConfig);
  if (legions === undefined) return [];
  return [
    ['Protocol', 'Sketches'],
    ['Noise', legions.config.noiseMechanism],
    ['Size of a sketch', `${count(legions.config.maxSize)} registers`],
  ];
}
