/** All pages of the console. */
import { askPages } from '../pages/ask/pages.ts';
import { consumerPages } from '../pages/consumer/pages.ts';
import { duchyPages } from '../pages/duchy/pages.ts';
import { operatorPages } from '../pages/operator/pages.ts';
import type { Page } from '../pages/page.ts';
import { providerPages } from '../pages/provider/pages.ts';
import { reportPages } from '../pages/reports/pages.ts';
import { sharedPages } from '../pages/shared/pages.ts';

export const PAGES: readonly Page[] = [
  ...consumerPages,
  ...reportPages,
  ...askPages,
  ...providerPages,
  ...duchyPages,
  ...operatorPages,
  ...sharedPages,
];
