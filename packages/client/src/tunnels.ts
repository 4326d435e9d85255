import type { Duplex } from 'node:stream'

/** The header of a CONNECT that names the node of the pod: pods of two machines may have the same address. */
export const tunnelNodeHeader = 'coracle-node'

/** Carries bytes both ways between two streams, an end of one way as an end of that way; ends when either side breaks. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => {})
    from.pipe(to)
    from.once('close', () => {
      if (!from.readableEnded) to.destroy()
    })
  }
}
