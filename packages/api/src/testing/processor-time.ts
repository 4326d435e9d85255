/**
 * For how many milliseconds this thread has had a processor while `run` ran, which waits for nothing. That does not depend on what else a machine
 * does: by the clock, the same work takes many times as long beside other work.
 */
export function processorMs(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
