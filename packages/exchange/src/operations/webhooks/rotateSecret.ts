import { randomBytes } from 'node:crypto';
import type { RequestOf, Webhook } from '@measurement-exchange/contract';
import { rotateSecret } from '../../database/webhooks.ts';
import { hoursBefore, strictlyAfter } from '../../domain/time.ts';
import { OLD_SECRET_HOURS, printSecret, SECRET_BYTES } from '../../domain/webhook.ts';
import type { Call, Exchange } from '../context.ts';
import { asValidated } from '../mutate.ts';
import { changeWebhook } from './change.ts';
import { viewWebhook } from './view.ts';

export function rotateWebhookSecret(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'rotateWebhookSecret'>,
): Promise<Webhook> {
  return changeWebhook('rotateWebhookSecret', exchange, call, request, (tx, before, now) => {
    const secret = randomBytes(SECRET_BYTES);
    const after = { ...before, updateTime: strictlyAfter(now, before.updateTime) };
    const sealed = exchange.secrets.seal(after.id, secret);
    return {
      save: () => rotateSecret(tx, after, sealed, hoursBefore(now, -OLD_SECRET_HOURS)),
      view: () => ({ ...viewWebhook(after), secret: printSecret(secret) }),
      viewValidated: () => asValidated(viewWebhook(after), []),
    };
  });
}
