/** Plans and creates measurements, with the same checks as `mex measure`. */
import type { Plan } from '@measurement-exchange/console/companion';
import type { MeasurementPlan, MeasurementRequest } from '@measurement-exchange/sdk';
import { given } from '../../calls/command.ts';
import { eventGroupsIn } from '../../party/measureRequest.ts';
import { CompanionFailure } from './failure.ts';
import type { ActingConsumer } from './results.ts';

export async function plan(
  acting: ActingConsumer,
  request: MeasurementRequest,
  assumed?: number,
): Promise<Plan> {
  const { create: _, ...planned } = await planOf(acting, request, assumed);
  return planned;
}

export async function create(acting: ActingConsumer, request: MeasurementRequest): Promise<{ name: string }> {
  if (!request?.requestId) {
    throw new CompanionFailure(
      400,
      'REQUEST_ID_MISSING',
      'request.requestId is required, so that a repeated call creates nothing twice.',
    );
  }
  const planned = await planOf(acting, request);
  if (planned.rejection !== undefined) {
    const { code, message, duchies } = planned.rejection;
    throw new CompanionFailure(
      400,
      code,
      `You would not accept the result: ${message}. Nothing was created.`,
      { duchies },
    );
  }
  const { name } = await planned.create();
  return { name: name! };
}

async function planOf(
  { client, consumer, credentials }: ActingConsumer,
  request: MeasurementRequest,
  assumed?: number,
): Promise<MeasurementPlan> {
  const eventGroups = await eventGroupsIn(request ?? {}, client, credentials.name);
  return consumer.plan(request, { eventGroups, ...given({ assumed: assumed && Math.round(assumed) }) });
}
