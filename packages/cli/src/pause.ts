import type { Host } from './host.ts'

/** Resolves after this much time; the process does not end before. */
export function pause({ environment }: Pick<Host, 'environment'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    environment.clock.setTimer(ms, resolve, { keepsProcess: true })
  })
}
