import { countTests, type DeliveryRecord, insertTest } from '../../database/webhookDeliveries.ts';
import { requireTestable, webhookName } from '../../domain/webhook.ts';
import type { Handler } from '../context.ts';
import { changeWebhook } from './change.ts';
import { viewDelivery } from './view.ts';

/** Stores a test delivery. A background job sends the delivery, so that a slow receiver does not delay this request. */
export const testWebhook: Handler<'testWebhook'> = (exchange, call, request) =>
  changeWebhook('testWebhook', exchange, call, request, async (tx, { party, id }, now) => {
    requireTestable(await countTests(tx, id));
    let delivery: DeliveryRecord;
    return {
      save: async () => {
        delivery = await insertTest(tx, id, webhookName(party, id), now);
      },
      savesToValidate: true,
      view: () => viewDelivery(delivery),
    };
  });
