import { type Computation, liquidLegionsOf } from '@measurement-exchange/contract';
import { count } from '../../format.ts';
import { Breakable } from '../../parts/Breakable.tsx';
import { NOISE_WORDS, protocolWords } from '../../parts/protocols.ts';
import { specWords } from '../../parts/specWords.ts';
import { idOf } from '../../session/roles.ts';

export function Facts({ computation }: { computation: Computation }) {
  const { measurementSpec, name, traceparent } = computation;
  const all: [string, string][] = [
    ...specWords(measurementSpec.message)!.facts,
    ...protocolFacts(computation),
    ...facts('Trace', traceparent),
  ];
  return (
    <section className="card">
      <header>
        <h2>Parameters</h2>
      </header>
      <div className="in-card">
        <dl className="kv">
          {all.map(([label, value]) => (
            <Fact key={label} label={label} value={value} />
          ))}
          <dt>API name</dt>
          <dd>
            <code>
              <Breakable text={name!} />
            </code>
          </dd>
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
  const sketch = liquidLegionsOf(protocolConfig)?.config;
  const mechanism = (shuffle ?? sketch)?.noiseMechanism;
  return [
    ['Protocol', protocolWords(protocolConfig).label],
    ...facts('Noise', mechanism && NOISE_WORDS[mechanism]),
    ...facts('Population', shuffle && idOf(shuffle.population)),
    ...facts('Size of a sketch', sketch && `${count(sketch.maxSize)} registers`),
  ];
}

/** Returns a list with the label and its value, or an empty list if there is no value. */
const facts = (label: string, value: string | undefined): [string, string][] =>
  value === undefined ? [] : [[label, value]];
