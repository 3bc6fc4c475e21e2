/** What parties need of the mathematics. */
export * from '@measurement-exchange/mpc';
