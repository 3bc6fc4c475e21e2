/** All planted bugs. A bug that remains undetected shows a gap in the rig or the tests. */
import { ACCESS_BUGS } from './bugs/access.ts';
import { AGENT_BUGS } from './bugs/agent.ts';
import { BACKGROUND_BUGS } from './bugs/background.ts';
import { BINDING_BUGS } from './bugs/binding.ts';
import { BOUND_BUGS } from './bugs/bounds.ts';
import { BURDEN_BUGS } from './bugs/burdens.ts';
import { COMPUTATION_BUGS } from './bugs/computations.ts';
import { CONSOLE_BUGS } from './bugs/console.ts';
import { CONSUMER_BUGS } from './bugs/consumer.ts';
import { DATABASE_BUGS } from './bugs/database.ts';
import { DUCHY_BUGS } from './bugs/duchy.ts';
import { DUCHY_CRASH_BUGS } from './bugs/duchyCrashes.ts';
import { DUCHY_RING_SECRECY_BUGS } from './bugs/duchyRingSecrecy.ts';
import { DUCHY_RING_BUGS } from './bugs/duchyRings.ts';
import { FEED_BUGS } from './bugs/feed.ts';
import { MEASUREMENT_BUGS } from './bugs/measurements.ts';
import { POPULATION_BUGS } from './bugs/populations.ts';
import { PROVIDER_BUGS } from './bugs/provider.ts';
import { REPORT_BUGS } from './bugs/reports.ts';
import { RPC_BUGS } from './bugs/rpc.ts';
import { SHARE_SHUFFLE_BUGS } from './bugs/shareShuffle.ts';
import { WEBHOOK_SCHEDULE_BUGS } from './bugs/webhookSchedule.ts';
import { WEBHOOK_BUGS } from './bugs/webhooks.ts';
import type { PlantedBug } from './plant.ts';

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...DATABASE_BUGS,
  ...MEASUREMENT_BUGS,
  ...COMPUTATION_BUGS,
  ...DUCHY_BUGS,
  ...DUCHY_CRASH_BUGS,
  ...DUCHY_RING_BUGS,
  ...BINDING_BUGS,
  ...DUCHY_RING_SECRECY_BUGS,
  ...ACCESS_BUGS,
  ...PROVIDER_BUGS,
  ...AGENT_BUGS,
  ...CONSUMER_BUGS,
  ...BOUND_BUGS,
  ...BURDEN_BUGS,
  ...POPULATION_BUGS,
  ...SHARE_SHUFFLE_BUGS,
  ...REPORT_BUGS,
  ...WEBHOOK_BUGS,
  ...WEBHOOK_SCHEDULE_BUGS,
  ...BACKGROUND_BUGS,
  ...FEED_BUGS,
  ...CONSOLE_BUGS,
  ...RPC_BUGS,
];

export function bugNamed(name: string | undefined): PlantedBug {
  const bug = PLANTED_BUGS.find((bug) => bug.name === name);
  if (bug !== undefined) return bug;
  throw new Error(`There is no bug ${name}, only ${PLANTED_BUGS.map(({ name }) => name).join(', ')}.`);
}
