/** Limits the time of random tests during mutation testing, which runs them once for each of thousands of mutants. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), interruptAfterTimeLimit: 100 });
