/** Lists requisitions that can never be fulfilled, each with its fault and the expected refusal. */
import type { SpoiledRow } from './requisitions.ts';
import { SPOILED_CONSENT } from './spoiledConsent.ts';
import { SPOILED_SELECTIONS } from './spoiledSelections.ts';
import { SPOILED_VALUES } from './spoiledValues.ts';

export const SPOILED: SpoiledRow[] = [...SPOILED_CONSENT, ...SPOILED_VALUES, ...SPOILED_SELECTIONS];
