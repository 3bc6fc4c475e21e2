/** Measures the processor time of this thread in milliseconds, which does not depend on other load of the machine. */
export function stopwatch(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
}
