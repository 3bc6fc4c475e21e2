/** Makes the random inputs of tests the same in every run. `FC_SEED=$RANDOM npm test` uses other inputs. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 1) });
