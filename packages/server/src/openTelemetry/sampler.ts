import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

/**
 * Returns the sampler that OTEL_TRACES_SAMPLER selects. A sampler without the prefix `parentbased_` ignores callers'
 * sampling flags.
 */
export function samplerOf(env: NodeJS.ProcessEnv): Sampler {
  const name = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const [, parentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? [];
  if (kind === undefined) {
    throw new Error(
      `OTEL_TRACES_SAMPLER is ${name}, and must be always_on, always_off or traceidratio, or parentbased_ before one of them.`,
    );
  }
  const root = rootSampler(kind, env.OTEL_TRACES_SAMPLER_ARG);
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(kind: string, argument: string | undefined): Sampler {
  if (kind === 'always_on') return new AlwaysOnSampler();
  if (kind === 'always_off') return new AlwaysOffSampler();
  const ratio = Number(argument || 1);
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new Error(`OTEL_TRACES_SAMPLER_ARG is ${argument}, and must be a number from 0 to 1.`);
  }
  return new TraceIdRatioBasedSampler(ratio);
}
