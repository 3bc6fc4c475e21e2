import type { Page } from '../../app/page.ts';

export const sharedPages: Page[] = [];
