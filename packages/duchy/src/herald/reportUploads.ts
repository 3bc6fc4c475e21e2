import { messageOf } from '@measurement-exchange/server';
import type { Duchy } from '../computations/context.ts';
import { isOutage, reportFulfillment } from '../computations/exchange.ts';
import { markReported, unreportedUploads } from '../database/index.ts';

export async function reportUploads({ client, db, name, log }: Duchy, before: number): Promise<void> {
  for (let afterName = ''; ; ) {
    const page = await unreportedUploads(db, { afterName });
    for (const { computation, requisition, nonce, createTime } of page) {
      if (createTime.getTime() > before) continue;
      try {
        await reportFulfillment(client, `${name}/computations/${computation}`, { requisition, nonce });
        await markReported(db, requisition);
      } catch (error) {
        log.warn({ requisition, reason: messageOf(error) }, 'upload not reported; it is tried again');
        if (isOutage(error)) return;
      }
    }
    if (page.length === 0) return;
    afterName = page.at(-1)!.requisition;
  }
}
