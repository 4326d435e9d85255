import { describe, expect, it } from 'vitest'
import { Nominations } from './nominations.ts'
import { makePod } from './testing/objects.ts'

describe('nominations', () => {
  const [a, b] = [makePod({}, 'a'), makePod({}, 'b')]

  it('tell which pods are to come to a node, and where a pod is to come', () => {
    const nominations = new Nominations()
    expect([nominations.isEmpty, nominations.podsOf('n'), nominations.nodeOf('uid-a')]).toEqual([true, [], undefined])
    nominations.set(a, 'n')
    nominations.set(b, 'n')
    expect([nominations.isEmpty, nominations.podsOf('n'), nominations.nodeOf('uid-a')]).toEqual([false, [a, b], 'n'])
  })

  it('are one for each pod: the last', () => {
    const nominations = new Nominations()
    nominations.set(a, 'n')
    nominations.set(a, 'm')
    expect([nominations.podsOf('n'), nominations.podsOf('m'), nominations.nodeOf('uid-a')]).toEqual([[], [a], 'm'])
    const newer = { ...a }
    nominations.set(newer, 'm')
    expect(nominations.podsOf('m')[0]).toBe(newer)
  })

  it('end with their pod, which is told where it was to come', () => {
    const nominations = new Nominations()
    nominations.set(a, 'n')
    nominations.set(b, 'n')
    expect([nominations.remove('uid-a'), nominations.remove('uid-a')]).toEqual(['n', undefined])
    expect([nominations.podsOf('n'), nominations.nodeOf('uid-a'), nominations.isEmpty]).toEqual([[b], undefined, false])
    nominations.remove('uid-b')
    expect([nominations.podsOf('n'), nominations.isEmpty]).toEqual([[], true])
  })
})
