/** The step of the form that picks the protocol. It shows the expected error and time of each protocol. */
import type { Protocol } from '@measurement-exchange/contract';
import { duration } from '../../../format.ts';
import { inWords, listed, partyName, useNames } from '../../../parts/names.ts';
import { PROTOCOL_WORDS } from '../../../parts/protocols.ts';
import { Term } from '../../../parts/Term.tsx';
import { marginText, relative } from './expected.ts';
import { countsPeople } from './form.ts';
import { Step } from './Step.tsx';
import type { Ask } from './useAsk.ts';
import { type Method, type Planned, useMethods } from './usePlan.ts';
import { useUsualTimes } from './usualTimes.ts';

export function Methods({ ask }: { ask: Ask }) {
  const { form, publishers, request, assumed, planned } = ask;
  const methods = useMethods(request, assumed).map((method) => orPlanned(method, planned));
  const times = useUsualTimes();
  const chosen = form.protocol ?? planned.plan?.protocol;
  const margins = methods.map((method) => usable(method)?.figures[0]?.margin ?? 0);
  const longest = Math.max(1, ...methods.map(({ protocol }) => times.get(protocol) ?? 0));
  const isTogether = countsPeople(form.type) && publishers.length > 1;
  return (
    <Step
      id="methods"
      number={5}
      title={isTogether ? 'How to count across publishers' : 'How to count'}
      hint={
        isTogether
          ? 'What each way costs in error and time, for this question.'
          : publishers.length === 0
            ? 'Depends on the publishers you pick.'
            : 'Each publisher counts alone. No duchy takes part.'
      }
      done={chosen !== undefined}
    >
      {methods.length > 0 && (
        <fieldset className="stack tight">
          <legend className="sr">How to count</legend>
          {methods.map((method, i) => (
            <MethodCard
              key={method.protocol}
              {...{ ask, method, isChosen: method.protocol === chosen }}
              errorShare={margins[i]! / Math.max(1, ...margins)}
              time={times.get(method.protocol)}
              timeShare={(times.get(method.protocol) ?? 0) / longest}
            />
          ))}
        </fieldset>
      )}
      {isTogether && methods.length === 0 && (
        <p className="soft">The ways to count show here as soon as the question can be checked.</p>
      )}
      {chosen !== undefined && chosen !== 'direct' && <Duchies names={planned.plan?.duchies ?? []} />}
    </Step>
  );
}

/** Adds the form's plan to the method if the method has no plan yet, and if the plan uses the method's protocol. */
function orPlanned(method: Method, { plan }: Planned): Method {
  return method.plan === undefined && plan?.protocol === method.protocol ? { ...method, plan } : method;
}

function usable({ protocol, plan }: Method) {
  return plan?.protocol === protocol ? plan : undefined;
}

function unusedBecause({ protocol, plan, error }: Method): string | undefined {
  if (error) return error.message;
  if (plan === undefined || plan.protocol === protocol) return undefined;
  const finding = plan.findings.find(
    ({ code, message }) => code === 'PROTOCOL_NOT_USED' && message.startsWith(protocol),
  );
  const reason = finding?.message.replace(/^\w+ is not used: /, '') ?? 'the exchange does not offer it.';
  return `Not possible: ${reason}`;
}

function MethodCard({
  ask: { form, change, assumed, planned },
  method,
  isChosen,
  ...bars
}: {
  ask: Ask;
  method: Method;
  isChosen: boolean;
  errorShare: number;
  time: number | undefined;
  timeShare: number;
}) {
  const { protocol } = method;
  const { label, meaning, name } = PROTOCOL_WORDS[protocol];
  const nameOf = useNames();
  const reason = unusedBecause(method);
  const against = reason && inWords(reason, nameOf);
  const isRecommended = form.protocol === undefined && planned.plan?.protocol === protocol;
  const figure = usable(method)?.figures[0];
  return (
    <label className={against ? 'pick no' : 'pick'} title={name}>
      <input
        type="radio"
        name="protocol"
        disabled={against !== undefined}
        checked={isChosen}
        onChange={() => change({ protocol: protocol as Protocol })}
      />
      <span className="cols pr3">
        <span className="stack tight">
          <b>
            {label} {isRecommended && <span className="chip ok">chosen by the exchange</span>}
          </b>
          <span className="hint">{against ?? meaning}</span>
        </span>
        <Bar
          value={figure ? `± ${marginText(figure)}${protocol === 'direct' ? ' each' : ''}` : '–'}
          beside={figure?.margin === undefined ? '' : relative(figure.margin, assumed)}
          share={figure ? bars.errorShare : 0}
          look="f2"
          what="error"
        />
        <Bar
          value={bars.time === undefined ? 'not known yet' : `about ${duration(Math.max(1000, bars.time))}`}
          beside=""
          share={bars.timeShare}
          look="f1"
          what={bars.time === undefined ? 'time' : 'time, from your last ones'}
        />
      </span>
    </label>
  );
}

function Bar({
  value,
  beside,
  share,
  look,
  what,
}: Record<'value' | 'beside' | 'look' | 'what', string> & { share: number }) {
  return (
    <span>
      <span className="row between xs">
        <b>{value}</b>
        <span className="muted">{beside}</span>
      </span>
      <svg className="plot" height="10" aria-hidden="true">
        <rect className="soft0" x="0" y="2" width="100%" height="6" rx="3" />
        <rect className={look} x="0" y="2" width={`${Math.min(100, share * 100)}%`} height="6" rx="3" />
      </svg>
      <span className="hint">{what}</span>
    </span>
  );
}

function Duchies({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p className="hint">
      Computed by <bdi>{listed(names.map(partyName).sort())}</bdi>, the{' '}
      <Term word="duchies">
        <b>Duchy</b>
        An independent server that helps count people across publishers without seeing who they are. No single
        one can read the data.
      </Term>{' '}
      that you accept.
    </p>
  );
}
