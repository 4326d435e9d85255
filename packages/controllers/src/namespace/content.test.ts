import { ApiError, configMaps, type KubernetesObject, type Pod, pods, type Resource } from '@coracle/api'
import type { Client } from '@coracle/client'
import { expect, it } from 'vitest'
import { pod } from '../testing/objects.ts'
import { deleteContent } from './content.ts'

const patient = (terminationGracePeriodSeconds: number, finalizers?: readonly string[], phase = 'Running'): Pod => {
  const { metadata, spec, ...rest } = pod('p', { phase })
  return {
    ...rest,
    metadata: { ...metadata, ...(finalizers === undefined ? {} : { finalizers }) },
    spec: { ...spec, terminationGracePeriodSeconds },
  } as Pod
}
const configMap = { metadata: { namespace: 'default', name: 'c' } } as KubernetesObject

/** A server on which what is to go stays, and some lists fail. */
const stubborn = (objects: ReadonlyMap<Resource, readonly KubernetesObject[]>, deleted: string[]): Client =>
  ({
    list: async (resource: Resource) => {
      const items = objects.get(resource)
      if (items === undefined) throw new ApiError(500, 'InternalError', `no ${resource.plural} today`)
      return { items }
    },
    deleteCollection: async ({ plural }: Resource) => void deleted.push(plural),
  }) as unknown as Client

const unexpected = (gvr: string) => `unexpected items still remain in namespace: default for gvr: ${gvr}`
const ofPods = unexpected('/v1, Resource=pods')

it.each<[string, readonly Pod[], number, readonly string[]]>([
  ['may take their grace', [patient(30)], 29_000, []],
  ['may not take longer', [patient(30)], 30_000, [ofPods]],
  ['may take that of the most patient', [patient(10), patient(30)], 29_000, []],
  ['have none where they have ended', [patient(30, undefined, 'Failed')], 1000, [ofPods]],
  ['may be held by finalizers', [patient(30, ['example.com/wait'])], 30_000, []],
])('pods %s', async (_, items, ageMs, errors) => {
  const deleted: string[] = []
  const content = await deleteContent(stubborn(new Map([[pods, items]]), deleted), [configMaps, pods], 'default', ageMs)
  expect(content.errors).toEqual(errors)
  expect(content.remaining).toMatchObject([{ count: items.length }])
  expect(deleted).toEqual(['pods'])
})

it('other objects have no reason to stay', async () => {
  const client = stubborn(
    new Map<Resource, readonly KubernetesObject[]>([
      [pods, []],
      [configMaps, [configMap]],
    ]),
    [],
  )
  const { errors } = await deleteContent(client, [configMaps, pods], 'default', 0)
  expect(errors).toEqual([unexpected('/v1, Resource=configmaps')])
})

it('counts what finalizers hold, whatever they are called', async () => {
  const held = { ...configMap, metadata: { ...configMap.metadata, finalizers: ['constructor'] } }
  const client = stubborn(
    new Map<Resource, readonly KubernetesObject[]>([
      [pods, []],
      [configMaps, [held, held]],
    ]),
    [],
  )
  const { remaining } = await deleteContent(client, [configMaps, pods], 'default', 0)
  expect(remaining.map(({ finalizers }) => [...finalizers])).toEqual([[['constructor', 2]]])
})

it('where pods cannot be looked for the rest goes all the same', async () => {
  const deleted: string[] = []
  const content = await deleteContent(
    stubborn(new Map([[configMaps, [configMap]]]), deleted),
    [configMaps, pods],
    'default',
    0,
  )
  expect(deleted).toEqual(['configmaps'])
  expect(content.errors).toEqual(['no pods today', unexpected('/v1, Resource=configmaps')])
})
