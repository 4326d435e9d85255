import type { Pod } from '@coracle/api'
import type { Change } from '@coracle/controller-runtime'
import { expect, it } from 'vitest'
import { pod } from '../testing/objects.ts'
import { changesEndpoints, targetPortOf } from './pods-behind.ts'

const at = (status: Pod['status'], more: Partial<Pod['spec']> = {}): Pod => {
  const { spec, ...rest } = pod('web')
  return { ...rest, spec: { ...spec, ...more }, status }
}
const made = at({ phase: 'Pending' })
const bound = at({ phase: 'Pending' }, { nodeName: 'node-1' })
const started = at({ phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }, { nodeName: 'node-1' })
const ready = at({ ...started.status, conditions: [{ type: 'Ready', status: 'True' }] }, { nodeName: 'node-1' })
const relabelled = (of: Pod): Pod => ({ ...of, metadata: { ...of.metadata, labels: { app: 'other' } } })

it.each<readonly [string, Change<Pod>, boolean]>([
  ['is made', { type: 'add', object: made }, false],
  ['is found with an address', { type: 'add', object: ready }, true],
  ['gets a node', { type: 'update', old: made, object: bound }, false],
  ['is relabelled before it has an address', { type: 'update', old: made, object: relabelled(made) }, false],
  ['gets an address', { type: 'update', old: bound, object: started }, true],
  ['gets ready', { type: 'update', old: started, object: ready }, true],
  ['is relabelled', { type: 'update', old: ready, object: relabelled(ready) }, true],
  ['loses its address', { type: 'update', old: ready, object: bound }, true],
  ['stays as it is', { type: 'update', old: ready, object: { ...ready } }, false],
  ['goes', { type: 'delete', object: ready }, true],
  ['goes without ever having had an address', { type: 'delete', object: bound }, false],
])('a pod that %s', (_, change, matters) => {
  expect(changesEndpoints(change)).toBe(matters)
})

it.each([3, 2000])('finds each of %i ports by its name without looking through all of them', (count) => {
  let looks = 0
  const ports = Array.from({ length: count }, (_, index) => ({
    get name() {
      looks += 1
      return `port-${index}`
    },
    containerPort: 1000 + index,
  }))
  const { spec, ...rest } = pod('web')
  const many: Pod = { ...rest, spec: { ...spec, containers: [{ name: 'web', image: 'i', ports }] } }
  const found = ports.map((_, index) => targetPortOf(many, { port: 80, targetPort: `port-${index}` }))
  expect(found).toEqual(ports.map(({ containerPort }) => containerPort))
  expect(targetPortOf(many, { port: 80, targetPort: 'port-0', protocol: 'UDP' })).toBeUndefined()
  expect(looks).toBeLessThanOrEqual(count * 16)
})
