import type { Host } from '../host.ts'

/** Under `npm start` one Ctrl-C arrives twice, from the terminal and from npm: what comes this soon after the first is the same. */
export const sameInterruptMs = 500

/** Exit code of a process that was interrupted (128 + SIGINT), as shells have it. */
const interruptedExitCode = 130

/** Resolves at the first Ctrl-C or SIGTERM, to stop in order; a further one ends the process at once. */
export function interruption(host: Pick<Host, 'environment' | 'onInterrupt' | 'exit'>): Promise<void> {
  const { clock } = host.environment
  return new Promise((resolve) => {
    let firstMs: number | undefined
    host.onInterrupt(() => {
      if (firstMs === undefined) {
        firstMs = clock.monotonicMs()
        resolve()
      } else if (clock.monotonicMs() - firstMs > sameInterruptMs) host.exit(interruptedExitCode)
    })
  })
}
