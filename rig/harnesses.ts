/**
 * All harnesses in the order in which they start. In a short run, two harnesses run in parallel. The longest therefore
 * come first, and a harness that needs the processor comes next to one that mostly waits.
 */
import { h16 } from './callers/canaries.ts';
import { h13 } from './callers/fuzz.ts';
import { h11 } from './callers/matrix.ts';
import { h14 } from './callers/slow.ts';
import { h12 } from './callers/tokens.ts';
import { h19, h19Rings } from './computationCrashes.ts';
import { h5 } from './exchangeCrashes.ts';
import { h20 } from './feed/feed.ts';
import type { Harness } from './harness.ts';
import { h2 } from './histories.ts';
import { h9 } from './network/failover.ts';
import { h8 } from './network/networkFaults.ts';
import { h6 } from './postgresCrashes.ts';
import { h1 } from './sequential.ts';

export const HARNESSES: Harness[] = [h19Rings, h8, h19, h20, h9, h5, h14, h1, h2, h13, h6, h16, h11, h12];
