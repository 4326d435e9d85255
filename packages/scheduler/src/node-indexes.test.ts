import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type NodeIndex, NodeIndexes, nodeChangesMax, nodeIndexesMax } from './node-indexes.ts'
import { NodeInfo } from './node-info.ts'
import { makeNode } from './testing/objects.ts'

/** The nodes there are, by name, with their versions. */
class Names implements NodeIndex {
  readonly versions = new Map<string, number>()
  updates = 0

  put(node: NodeInfo): void {
    this.versions.set(node.name, node.version)
    this.updates++
  }

  remove(name: string): void {
    this.versions.delete(name)
    this.updates++
  }
}

describe('indexes over nodes', () => {
  const nodes = new Map<string, NodeInfo>()
  const put = (indexes: NodeIndexes, name: string) => {
    const known = nodes.get(name)
    if (known === undefined) nodes.set(name, new NodeInfo(makeNode({ name })))
    else known.setNode(known.node)
    indexes.changed(name)
  }
  const remove = (indexes: NodeIndexes, name: string) => {
    nodes.delete(name)
    indexes.changed(name)
  }
  const truth = () => new Map([...nodes].map(([name, { version }]) => [name, version]))

  it('are what one made now would be, whenever they are asked for', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      action: fc.constantFrom('put', 'remove', 'ask'),
      index: fc.constantFrom('x', 'y'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        nodes.clear()
        const indexes = new NodeIndexes(nodes)
        for (const { name, action, index } of steps) {
          if (action === 'put') put(indexes, name)
          else if (action === 'remove') remove(indexes, name)
          else expect(indexes.get(index, () => new Names()).versions).toEqual(truth())
        }
      }),
    )
  })

  it('follow changes one by one, and are made anew where too many were missed', () => {
    nodes.clear()
    const indexes = new NodeIndexes(nodes)
    for (const name of ['a', 'b', 'c']) put(indexes, name)
    const index = indexes.get('x', () => new Names())
    expect(index.updates).toBe(3)
    put(indexes, 'b')
    expect(indexes.get('x', () => new Names())).toBe(index)
    expect(index.updates).toBe(4)
    for (let changes = 0; changes <= nodeChangesMax; changes++) put(indexes, 'a')
    const remade = indexes.get('x', () => new Names())
    expect(remade).not.toBe(index)
    expect([remade.updates, remade.versions]).toEqual([3, truth()])
  })

  it('are not made anew where they have missed little, however many changes there were', () => {
    nodes.clear()
    const indexes = new NodeIndexes(nodes)
    const index = indexes.get('x', () => new Names())
    for (let changes = 0; changes < 3 * nodeChangesMax; changes++) {
      put(indexes, 'a')
      if (changes % 1000 === 0) indexes.get('x', () => new Names())
    }
    expect(indexes.get('x', () => new Names())).toBe(index)
    expect([index.updates, index.versions]).toEqual([3 * nodeChangesMax, truth()])
  })

  it('are forgotten where there are too many', () => {
    nodes.clear()
    const indexes = new NodeIndexes(nodes)
    const first = indexes.get('first', () => new Names())
    for (let others = 1; others < nodeIndexesMax; others++) indexes.get(`${others}`, () => new Names())
    expect(indexes.get('first', () => new Names())).toBe(first)
    for (let others = 0; others < nodeIndexesMax; others++) indexes.get(`more ${others}`, () => new Names())
    expect(indexes.get('first', () => new Names())).not.toBe(first)
  })
})
