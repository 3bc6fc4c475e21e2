/** The mathematics that parties need. */
export * from '@measurement-exchange/mpc';
