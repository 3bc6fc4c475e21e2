/** Returns how many milliseconds of processor time this thread has used since, whatever else the machine does. */
export function stopwatch(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
}
