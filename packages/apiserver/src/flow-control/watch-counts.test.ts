import { expect, it } from 'vitest'
import { WatchCounts } from './watch-counts.ts'

const pods = { group: '', plural: 'pods', namespace: '', name: '' }

it('a write concerns the watches of all its resource, of its namespace and of the object', () => {
  const watches = new WatchCounts()
  watches.register(pods, '')
  watches.register({ ...pods, namespace: 'a' }, 'status.phase=Running')
  watches.register({ ...pods, namespace: 'a' }, 'metadata.name=p')
  watches.register({ ...pods, namespace: 'b', name: 'p' }, '')
  watches.register({ ...pods, group: 'metrics.k8s.io' }, '')
  const count = (namespace: string, name: string) => watches.interestedIn({ ...pods, namespace, name })
  expect([count('a', 'p'), count('a', 'q'), count('a', ''), count('b', 'p'), count('c', '')]).toEqual([3, 2, 2, 2, 1])
})

it('a watch counts until it ends, once', () => {
  const watches = new WatchCounts()
  const [forget] = [watches.register(pods, ''), watches.register(pods, '')]
  forget?.()
  forget?.()
  expect(watches.interestedIn(pods)).toBe(1)
})

it.each<[string, number]>([
  ['spec.nodeName=n', 0],
  ['spec.nodeName!=n', 1],
  ['spec.nodeName=', 1],
  ['spec.nodeName=n,x', 1],
])('a watch of pods selected by %j counts %i', (selector, count) => {
  const watches = new WatchCounts()
  watches.register(pods, selector)
  expect(watches.interestedIn(pods)).toBe(count)
})
