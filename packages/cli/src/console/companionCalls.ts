/** Calls the companion's methods and returns their results as JSON, for `mex console` and a development exchange. */
import type { CompanionMethod } from '@measurement-exchange/console/companion';
import type { Acting } from '../connection/credentials.ts';
import { toJson } from '../terminal/output.ts';
import type { Companion, CompanionOptions } from './companion.ts';

export interface CompanionAnswer {
  status: number;
  json: string;
}

/** Calls the companion's methods for one party. The first call loads the party's keys. */
export class CompanionCalls {
  private readonly load: () => Promise<Acting>;
  private readonly options: CompanionOptions;
  private methods: Promise<Companion> | undefined;
  private readonly ended = new AbortController();

  constructor(load: () => Promise<Acting>, options: CompanionOptions = {}) {
    this.load = load;
    this.options = options;
  }

  async call(method: string, input: unknown): Promise<CompanionAnswer> {
    try {
      const methods = await this.loaded();
      if (!isMethod(methods, method)) {
        const message = `The companion has no method ${method.slice(0, 40)}.`;
        return { status: 404, json: toJson({ reason: 'METHOD_NOT_FOUND', message }) };
      }
      return { status: 200, json: toJson((await methods[method](input)) ?? null) };
    } catch (error) {
      const { failureOf } = await import('./companion/failure.ts');
      const failure = failureOf(error);
      return { status: failure.status, json: toJson(failure) };
    }
  }

  /** Stops all work that outlives the call that started it, such as runs of reports. */
  close(): void {
    this.ended.abort();
  }

  private loaded(): Promise<Companion> {
    const loading = async () => {
      // Import the methods only here, so that the code for decryption and verification is not loaded before the first
      // call.
      const { createCompanionMethods } = await import('./companion.ts');
      return createCompanionMethods(await this.load(), { ...this.options, signal: this.ended.signal });
    };
    this.methods ??= loading().catch((error) => {
      this.methods = undefined;
      throw error;
    });
    return this.methods;
  }
}

/**
 * Returns whether the companion has this method. Properties that every object inherits, such as `constructor`, do not
 * count.
 */
function isMethod(methods: Companion, method: string): method is CompanionMethod {
  return Object.hasOwn(methods, method);
}
