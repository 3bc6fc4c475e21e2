import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { type CallOptions, remote, showResource } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { isIll, printAilments } from '../terminal/doctorReport.ts';
import { print } from '../terminal/output.ts';
import { shortTime } from '../terminal/times.ts';

const POLL_MS = 1_000;

export function doctorCommand(): Command {
  return remote('doctor', 'what the exchange found when it last made the checks of mex doctor')
    .option('--run', 'make the checks now, and wait for them')
    .action(async (options: CallOptions & { run?: boolean }) => {
      const client = await connect(options);
      let doctor = options.run ? await client.runDoctor() : await client.getDoctor();
      while (options.run && doctor.running) {
        await sleep(POLL_MS);
        doctor = await client.getDoctor();
      }
      showResource(options, doctor, ({ running, endTime, checks, findings, failure }) => {
        if (running) print('The doctor is running.');
        if (endTime === undefined) return running ? undefined : print('It has not run yet: --run.');
        print(`The last run ended on ${shortTime(endTime)} UTC.`);
        if (failure === undefined) printAilments(findings, checks ?? 0);
        else print(failure);
      });
      if (isIll(doctor.findings) || doctor.failure !== undefined) process.exitCode = 1;
    });
}
