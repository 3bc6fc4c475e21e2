/**
 * Starts a measurement of this thread's CPU time. The returned function returns the time so far in milliseconds. Other
 * work on the machine does not count.
 */
export function stopwatch(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
}
