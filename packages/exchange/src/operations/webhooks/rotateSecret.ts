import { randomBytes } from 'node:crypto';
import { rotateSecret } from '../../database/webhooks.ts';
import { hoursBefore, strictlyAfter } from '../../domain/time.ts';
import { OLD_SECRET_HOURS, printSecret, SECRET_BYTES } from '../../domain/webhook.ts';
import type { Handler } from '../context.ts';
import { asValidated } from '../mutate.ts';
import { changeWebhook } from './change.ts';
import { viewWebhook } from './view.ts';

export const rotateWebhookSecret: Handler<'rotateWebhookSecret'> = (exchange, call, request) =>
  changeWebhook('rotateWebhookSecret', exchange, call, request, (tx, before, now) => {
    const secret = randomBytes(SECRET_BYTES);
    const after = { ...before, updateTime: strictlyAfter(now, before.updateTime) };
    const sealed = exchange.secrets.seal(after.id, secret);
    return {
      save: () => rotateSecret(tx, after, sealed, hoursBefore(now, -OLD_SECRET_HOURS)),
      view: () => ({ ...viewWebhook(after), secret: printSecret(secret) }),
      viewValidated: () => asValidated(viewWebhook(after), []),
    };
  });
