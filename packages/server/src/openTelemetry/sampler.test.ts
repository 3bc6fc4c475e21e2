import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { samplerOf } from './sampler.ts';

const LOW = `00000000${'0'.repeat(23)}1`;
const HIGH = `ffffffff${'0'.repeat(23)}1`;

/**
 * Returns whether the sampler records a span of this trace. If `callersFlag` is given, the span has a remote parent
 * with these trace flags.
 */
function isSampled(env: NodeJS.ProcessEnv, traceId: string, callersFlag?: 0 | 1): boolean {
  const caller = { traceId, spanId: '1'.repeat(16), traceFlags: callersFlag ?? 0, isRemote: true };
  const around = callersFlag === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller);
  const { decision } = samplerOf(env).shouldSample(around, traceId, 'n', SpanKind.SERVER, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}

describe('the trace sampler', () => {
  it.each<[env: NodeJS.ProcessEnv, own: boolean, ofSampled: boolean, ofUnsampled: boolean]>([
    [{}, true, true, false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, true, true, false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, false, true, false],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, true, true, true],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, false, false, false],
  ])(
    'decides about new traces, sampled callers and unsampled callers as set by %j',
    (env, own, ofSampled, ofUnsampled) => {
      expect([isSampled(env, LOW), isSampled(env, LOW, 1), isSampled(env, LOW, 0)]).toEqual([
        own,
        ofSampled,
        ofUnsampled,
      ]);
    },
  );

  it('samples the given ratio of traces, and all by default, and throws on a ratio outside of 0 to 1', () => {
    const ratio = (argument: string | undefined) => {
      const env = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: argument };
      return [isSampled(env, LOW), isSampled(env, HIGH)];
    };
    expect(ratio('0.5')).toEqual([true, false]);
    expect(ratio('0')).toEqual([false, false]);
    expect(ratio(undefined)).toEqual([true, true]);
    for (const wrong of ['1.1', '-1', 'half']) expect(() => ratio(wrong)).toThrow('from 0 to 1');
  });

  it('throws on an unknown name', () => {
    for (const name of ['jaeger_remote', 'parentbased', 'ALWAYS_ON']) {
      expect(() => samplerOf({ OTEL_TRACES_SAMPLER: name })).toThrow('must be always_on');
    }
  });
});
