/** Random inputs of tests are the same in every run; `FC_SEED=$RANDOM npm test` looks elsewhere. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 1) });
