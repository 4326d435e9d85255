import type { Node, Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { NodeInfo } from '../node-info.ts'
import { SchedulerCache } from '../scheduler-cache.ts'
import { makeCluster, makeNode, makePod } from '../testing/objects.ts'
import { imageLocality } from './image-locality.ts'

/** Images by their sizes in MiB. */
type Images = Readonly<Record<string, number>>

function having(images: Images, name?: string): Node {
  const node = makeNode(name === undefined ? {} : { name })
  const list = Object.entries(images).map(([image, size]) => ({ names: [image], sizeBytes: size * 1024 * 1024 }))
  return { ...node, status: { ...node.status, images: list } }
}

const running = (...images: readonly string[]): Pod =>
  makePod({ containers: images.map((image, index) => ({ name: `c${index}`, image })) })

function scores(pod: Pod, nodes: readonly Images[]): readonly number[] | undefined {
  const infos = nodes.map((images) => new NodeInfo(having(images)))
  const scorer = imageLocality.scorer?.(pod, makeCluster(infos), infos)
  return scorer && infos.map((info) => scorer.score(info))
}

describe('nodes that have the images of a pod', () => {
  it.each<[string, Pod, readonly Images[], readonly number[]]>([
    ['score by the size', running('a:1', 'b:1'), [{ 'a:1': 40 }, { 'b:1': 250 }], [0, 5]],
    ['score by all that they have', running('a:1', 'b:1'), [{ 'a:1': 40, 'b:1': 300 }, {}], [7, 0]],
    ['score 100 at most', running('a:1', 'b:1'), [{ 'a:1': 4000 }, { 'b:1': 10 }], [100, 0]],
    ['score less among many that do not', running('a:1', 'b:1'), [{ 'a:1': 4000 }, { 'b:1': 10 }, {}], [66, 0, 0]],
    [
      'score more where others have them, too',
      running('a:1', 'b:1', 'c:1'),
      [{ 'b:1': 600, 'c:1': 900 }, { 'a:1': 300, 'b:1': 600, 'c:1': 900 }, {}],
      [32, 36, 0],
    ],
    ['score nothing for small ones', running('a:1', 'b:1'), [{ 'a:1': 22 }, { 'b:1': 22 }], [0, 0]],
    [
      'have them by the tag latest where the pod names none',
      running('example.com:5000/a'),
      [{ 'example.com:5000/a:latest': 1000 }],
      [100],
    ],
    ['have them by the tag latest, also under a short name', running('a'), [{ 'a:latest': 1000 }], [100]],
    ['have them by digest', running('a@sha256:00'), [{ 'a@sha256:00': 1000 }, {}], [48, 0]],
  ])('%s', (_, pod, nodes, expected) => {
    expect(scores(pod, nodes)).toEqual(expected)
  })

  it('score for init containers and volumes as well', () => {
    const pod = makePod({
      initContainers: [{ name: 'init', image: 'a:1' }],
      containers: [{ name: 'main', image: 'b:1' }],
      volumes: [{ name: 'data', image: { reference: 'c:1' } }],
    })
    expect(scores(pod, [{ 'a:1': 3000 }, { 'c:1': 1523 }])).toEqual([74, 37])
    const withVolume = makePod({
      containers: [{ name: 'main', image: 'a:1' }],
      volumes: [{ name: 'data', image: { reference: 'b' } }],
    })
    expect(scores(withVolume, [{ 'b:latest': 300, 'c:1': 600 }, { 'd:1': 2000 }])).toEqual([12, 0])
  })

  it('decide nothing where none has one, or none says what it has', () => {
    expect(scores(running('a:1'), [{ 'b:1': 500 }, {}])).toBeUndefined()
    expect(scores(running('a:1'), [{}, {}])).toBeUndefined()
  })
})

it('passes over images that have no name, or no size', () => {
  const nameless: Node = { ...makeNode(), status: { images: [{ sizeBytes: 500 * 1024 * 1024 }, { names: ['a:1'] }] } }
  const infos = [new NodeInfo(nameless)]
  expect(imageLocality.scorer?.(running('a:1'), makeCluster(infos), infos)?.score(infos[0] as NodeInfo)).toBe(0)
  expect(imageLocality.scorer?.(running('b:1'), makeCluster(infos), infos)).toBeUndefined()
})

it('keeps pods of all kinds together, as it refuses none', () => {
  expect(imageLocality.signature(running('a:1'))).toBeUndefined()
  expect(imageLocality.filter).toBeUndefined()
})

it('follows what nodes say, until they are gone', () => {
  const cache = new SchedulerCache()
  const scoresNow = () => {
    const scorer = imageLocality.scorer?.(running('a:1'), cache, cache.nodes)
    return scorer && Object.fromEntries(cache.nodes.map((node) => [node.name, scorer.score(node)]))
  }
  cache.setNode(having({ 'a:1': 1000 }, 'one'))
  cache.setNode(having({}, 'two'))
  expect(scoresNow()).toEqual({ one: 48, two: 0 })
  cache.setNode(having({ 'a:1': 1000, 'b:1': 20 }, 'two'))
  expect(scoresNow()).toEqual({ one: 100, two: 100 })
  cache.setNode(having({ 'b:1': 20 }, 'one'))
  expect(scoresNow()).toEqual({ one: 0, two: 48 })
  // What has changed of it are its pods.
  cache.place(running('b:1'), 'two')
  expect(scoresNow()).toEqual({ one: 0, two: 48 })
  cache.setNode(having({}, 'two'))
  expect(scoresNow()).toBeUndefined()
  cache.setNode(having({ 'a:1': 1000 }, 'two'))
  expect(scoresNow()).toEqual({ one: 0, two: 48 })
  cache.removeNode('two')
  expect(scoresNow()).toBeUndefined()
  cache.setNode(having({}, 'two'))
  const one = having({ 'a:1': 1000 }, 'one')
  for (let times = 0; times < 2; times++) {
    cache.setNode(one)
    expect(scoresNow()).toEqual({ one: 48, two: 0 })
    cache.removeNode('one')
    expect(scoresNow()).toBeUndefined()
  }
})
