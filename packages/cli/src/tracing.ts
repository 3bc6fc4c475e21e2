/** Traces a command if OpenTelemetry's environment variables turn tracing on. */
import { isTelemetryOn, startTelemetry } from '@measurement-exchange/server/telemetry';

/**
 * The service names of the commands that run until they are stopped. Instead of one span for the whole command, these
 * commands create a span for each task.
 */
const SERVICES: Record<string, string> = {
  serve: 'mex-exchange',
  duchy: 'mex-duchy',
  provider: 'mex-provider',
  watch: 'mex',
};

export async function traced(words: readonly string[], run: () => Promise<unknown>): Promise<void> {
  if (!isTelemetryOn()) {
    await run();
    return;
  }
  const command = words.find((word, i) => !word.startsWith('-') && words[i - 1] !== '--profile') ?? '';
  const service = SERVICES[command];
  const telemetry = await startTelemetry(service ?? 'mex', (message) =>
    process.stderr.write(`mex: OpenTelemetry: ${message}\n`),
  );
  try {
    // Put only the command's name in the span, because its arguments may be secret.
    await (service === undefined ? telemetry.span({ name: `mex ${command}` }, run) : run());
  } finally {
    await telemetry.stop();
  }
}
