import { expect, it } from 'vitest'
import { NodeInfo } from './node-info.ts'
import type { NodePlugin } from './plugins/plugin.ts'
import { firstRefusal, PodClass } from './pod-class.ts'
import { makeNode, makePod } from './testing/objects.ts'

/** A plugin that is told apart by its name and says no to the nodes named; `asked` are the nodes it was asked about. */
function pluginOf(name: string, refused: readonly string[], more: Partial<NodePlugin> = {}) {
  const asked: string[] = []
  const plugin: NodePlugin = {
    name,
    scope: 'node',
    signature: () => undefined,
    filter: () => ({
      refuse(node) {
        asked.push(node.name)
        return refused.includes(node.name) ? { reasons: [`no ${name}`], isHelpedByEviction: true } : undefined
      },
    }),
    ...more,
  }
  return { plugin, asked }
}

const node = (name: string) => new NodeInfo(makeNode({ name }))

it('the first refusal of a node is that of the first filter which refuses it', () => {
  const silent = pluginOf('silent', [], { filter: () => undefined }).plugin
  const podClass = new PodClass(makePod(), [silent, pluginOf('A', ['a']).plugin, pluginOf('B', ['a', 'b']).plugin])
  const by = (plugin: string) => ({ plugin, reasons: [`no ${plugin}`], isHelpedByEviction: true })
  const found = ['a', 'b', 'c'].map((name) => firstRefusal(podClass.filters, node(name)))
  expect(found).toEqual([by('A'), by('B'), undefined])
  expect(['a', 'b', 'c'].map((name) => podClass.refuse(node(name)))).toEqual(found)
})

it('what is said of a node is kept until the node changes', () => {
  const { plugin, asked } = pluginOf('A', ['a'])
  const podClass = new PodClass(makePod(), [plugin])
  const a = node('a')
  const first = podClass.refuse(a)
  expect(podClass.refuse(a)).toBe(first)
  expect(asked).toEqual(['a'])
  a.add(makePod())
  expect(podClass.refuse(a)).toEqual(first)
  expect(asked).toEqual(['a', 'a'])
})

it('what is said of nodes that are gone is forgotten once there are many of them', () => {
  const { plugin, asked } = pluginOf('A', [])
  const podClass = new PodClass(makePod(), [plugin])
  const nodes = ['a', 'b', 'c', 'd'].map(node)
  for (const each of nodes) podClass.refuse(each)
  podClass.trim(2)
  for (const each of nodes) podClass.refuse(each)
  expect(asked).toHaveLength(4)
  podClass.trim(1)
  for (const each of nodes) podClass.refuse(each)
  expect(asked).toHaveLength(8)
})

it('scores that stand by themselves add up by their weights, those that compare nodes are kept apart', () => {
  const scoring = (name: string, score: number, more: Partial<NodePlugin> = {}) =>
    pluginOf(name, [], { filter: () => undefined, scorer: () => ({ score: () => score }), ...more }).plugin
  const normalize = () => {}
  const podClass = new PodClass(makePod(), [
    scoring('A', 10, { weight: 3 }),
    scoring('B', 5),
    scoring('C', 7, { weight: 2, scorer: () => ({ score: () => 7, normalize }) }),
    pluginOf('D', [], { scorer: () => undefined }).plugin,
  ])
  expect(podClass.scores(node('a'))).toEqual({ sum: 35, compared: [7] })
  expect(podClass.comparing.map(({ weight, scorer }) => [weight, scorer.normalize])).toEqual([[2, normalize]])
})
