import { createHash } from 'node:crypto'

/**
 * The queues that a flow may use, of `queues` in all: `handSize` different ones, chosen by a hash of its name. Two flows seldom have all of
 * them in common, so that one that sends very much leaves others a queue without it.
 */
export function dealHand(flow: string, queues: number, handSize: number): readonly number[] {
  let left = createHash('sha256').update(flow).digest().readBigUInt64LE()
  const hand: number[] = []
  for (let dealt = 0; dealt < handSize; dealt++) {
    const remaining = BigInt(queues - dealt)
    let card = Number(left % remaining)
    left /= remaining
    // The card-th of those that are not dealt yet.
    for (const other of hand.toSorted((a, b) => a - b)) if (card >= other) card += 1
    hand.push(card)
  }
  return hand
}
