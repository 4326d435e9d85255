import { describe, expect, it } from 'vitest'
import { ByPriority } from './by-priority.ts'

describe('pods by priority', () => {
  it('have the most important first, and of those that are alike the one that came first', () => {
    const list = new ByPriority()
    for (const [priority, uid] of [
      [0, 'a'],
      [7, 'b'],
      [7, 'c'],
      [-1, 'd'],
    ] as const)
      list.add(priority, uid)
    const order: (string | undefined)[] = []
    for (const [priority, uid] of [
      [7, 'b'],
      [7, 'c'],
      [0, 'a'],
      [-1, 'd'],
    ] as const) {
      order.push(list.first)
      expect(list.delete(priority, uid)).toBe(true)
    }
    expect([order, list.first, list.isEmpty]).toEqual([['b', 'c', 'a', 'd'], undefined, true])
  })

  it('are deleted where they are, and only there', () => {
    const list = new ByPriority()
    list.add(1, 'a')
    expect([list.delete(2, 'a'), list.delete(1, 'b'), list.isEmpty]).toEqual([false, false, false])
    expect([list.delete(1, 'a'), list.delete(1, 'a'), list.isEmpty]).toEqual([true, false, true])
  })

  it('are none once they are cleared', () => {
    const list = new ByPriority()
    list.add(1, 'a')
    list.clear()
    expect([list.isEmpty, list.first]).toEqual([true, undefined])
  })
})
