import { describe, expect, it } from 'vitest'
import type { RegistryWatch, WatchDelivery } from '../registry-contract.ts'
import { OrderedWatch, pendingDeliveriesMax } from './ordered-watch.ts'

const delivery = (name: string): WatchDelivery => ({
  event: { type: 'ADDED', object: { apiVersion: 'v1', kind: 'A', metadata: { name } } },
  bytes: Buffer.from(name),
})

/** A watch whose deliveries are shown when the test says so. */
function started(show?: (delivery: WatchDelivery) => WatchDelivery | Promise<WatchDelivery>) {
  const lines: string[] = []
  const calls: string[] = []
  const answers: (() => void)[] = []
  const later = (given: WatchDelivery) =>
    new Promise<WatchDelivery>((resolve) => {
      answers.push(() => resolve(given))
    })
  const source: RegistryWatch = {
    close: () => calls.push('close'),
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
  }
  const watch = new OrderedWatch({
    show: show ?? later,
    onEvent: ({ event }) => {
      lines.push('metadata' in event.object ? String(event.object.metadata?.name ?? event.type) : event.type)
      return lines.at(-1) !== 'last'
    },
    onEnd: () => lines.push('end'),
  }).attach(source)
  return { watch, lines, calls, answers }
}

const turn = async () => {
  for (let count = 0; count < 10; count += 1) await Promise.resolve()
}

describe('a watch whose deliveries have to be asked for', () => {
  it('passes on at once what needs no asking', () => {
    const { watch, lines } = started((given) => given)
    watch.take(delivery('a'))
    expect(lines).toEqual(['a'])
  })

  it('keeps the order, whichever answer comes first', async () => {
    const { watch, lines, answers } = started()
    for (const name of ['a', 'b']) watch.take(delivery(name))
    answers[1]?.()
    await turn()
    expect(lines).toEqual([])
    answers[0]?.()
    await turn()
    expect(lines).toEqual(['a', 'b'])
  })

  it('lets its source rest while many wait, and go on after', async () => {
    const { watch, lines, calls, answers } = started()
    for (let count = 0; count < pendingDeliveriesMax; count += 1) watch.take(delivery(`n${count}`))
    expect(calls).toEqual(['pause'])
    for (const answer of answers) answer()
    for (let count = 0; count < pendingDeliveriesMax; count += 1) await turn()
    expect(lines).toHaveLength(pendingDeliveriesMax)
    expect(calls.at(-1)).toBe('resume')
  })

  it('holds back what waits while its reader is paused', async () => {
    const { watch, lines, answers } = started()
    watch.take(delivery('a'))
    watch.pause()
    answers[0]?.()
    await turn()
    expect(lines).toEqual([])
    watch.resume()
    await turn()
    expect(lines).toEqual(['a'])
  })

  it('ends after its source, when all that waits is delivered', async () => {
    const { watch, lines, answers } = started()
    watch.take(delivery('a'))
    watch.sourceEnded()
    expect(lines).toEqual([])
    answers[0]?.()
    await turn()
    expect(lines).toEqual(['a', 'end'])
  })

  it('ends once where it is closed, or its reader takes no more', async () => {
    const { watch, lines, calls, answers } = started()
    watch.take(delivery('last'))
    watch.take(delivery('b'))
    for (const answer of answers) answer()
    await turn()
    watch.close()
    expect(lines).toEqual(['last', 'end'])
    expect(calls).toContain('close')
    expect(watch.take(delivery('c'))).toBe(false)
  })

  it('ends with an error where an answer fails', async () => {
    const { watch, lines } = started(() => Promise.reject(new Error('no')))
    watch.take(delivery('a'))
    await turn()
    expect(lines).toEqual(['ERROR', 'end'])
  })
})
