import type { Doctor } from '@measurement-exchange/contract';
import { type DoctorRun, getDoctorRun, lockDoctorRun, startDoctorRun } from '../../database/doctorRun.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';

/**
 * The minimum time between the end of one run and the start of the next, if an operator requests the next run. Frequent
 * runs would be too costly, because each run reads whole tables.
 */
const REST_MS = 60_000;

export const getDoctor: Handler<'getDoctor'> = async (exchange) =>
  viewDoctor(await getDoctorRun(exchange.db));

export const runDoctor: Handler<'runDoctor'> = async (exchange, call, request) => {
  let started: DoctorRun | undefined;
  const response = await mutate('runDoctor', exchange, call, request, async (tx) => {
    const before = await lockDoctorRun(tx);
    const time = exchange.clock();
    const unchanged = () => viewDoctor(before);
    const isRested = before.endTime === null || Date.parse(time) - Date.parse(before.endTime) >= REST_MS;
    if (before.isRunning || !isRested) return { view: unchanged, viewValidated: unchanged };
    const after = { ...before, requests: before.requests + 1, isRunning: true, startTime: time };
    return {
      save: () => {
        started = after;
        startDoctorRun(tx, after.requests, time, exchange.doctor.leaseMs);
      },
      versions: [{ name: 'doctor', version: after.requests, time }],
      view: () => viewDoctor(after),
      viewValidated: unchanged,
    };
  });
  if (started !== undefined) exchange.doctor.begin(started.startTime!);
  return response;
};

function viewDoctor(run: DoctorRun): Doctor {
  const { isRunning, startTime, endTime, checks, findings, failure } = run;
  return {
    running: isRunning,
    startTime: startTime ?? undefined,
    endTime: endTime ?? undefined,
    checks: checks ?? undefined,
    findings,
    failure: failure ?? undefined,
  };
}
