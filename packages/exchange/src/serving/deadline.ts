import { ExchangeError } from '@measurement-exchange/contract';

/** `work` goes on after the deadline, and keeps its slot until it ends: it cannot be undone from here. */
export function withDeadline<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () =>
      reject(new ExchangeError('DEADLINE_EXCEEDED', 'The exchange took too long; the outcome is not known.'));
    const timer = setTimeout(expire, ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
