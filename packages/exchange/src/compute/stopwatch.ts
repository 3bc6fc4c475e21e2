/** Measures this thread's CPU time in milliseconds, which does not depend on what else the machine is doing. */
export function stopwatch(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
}
