/** OpenTelemetry of a command, where its environment variables turn it on. */
import { isTelemetryOn, startTelemetry } from '@measurement-exchange/server/telemetry';

/** Commands that go on until they are stopped: what they do is traced in parts. */
const SERVICES: Record<string, string> = {
  serve: 'mex-exchange',
  duchy: 'mex-duchy',
  provider: 'mex-provider',
  watch: 'mex',
};

/** Runs the command that the words name; any other than those above is one span. */
export async function traced(words: readonly string[], run: () => Promise<unknown>): Promise<void> {
  if (!isTelemetryOn()) {
    await run();
    return;
  }
  const [command = ''] = words;
  const service = SERVICES[command];
  const telemetry = await startTelemetry(service ?? 'mex', (message) =>
    process.stderr.write(`mex: OpenTelemetry: ${message}\n`),
  );
  try {
    // Of what was typed only the command: the rest may be secret.
    await (service === undefined ? telemetry.span({ name: `mex ${command}` }, run) : run());
  } finally {
    await telemetry.stop();
  }
}
