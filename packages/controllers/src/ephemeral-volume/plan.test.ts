import type { PersistentVolumeClaim, Pod } from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'
import { expect, it } from 'vitest'
import { pod, secondsAgo } from '../testing/objects.ts'
import { claim } from '../testing/volumes.ts'
import { planEphemeralVolumes } from './plan.ts'

const template = {
  metadata: { labels: { use: 'scratch' }, annotations: { note: 'x' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}
const volumes = [
  { name: 'scratch', ephemeral: { volumeClaimTemplate: template } },
  { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
]

function web(metadata: object = {}): Pod {
  const of = pod('web')
  return { ...of, metadata: { ...of.metadata, ...metadata }, spec: { ...of.spec, volumes } } as unknown as Pod
}

const none = (): PersistentVolumeClaim | undefined => undefined

it('makes a claim for each ephemeral volume, which the pod owns', () => {
  expect(planEphemeralVolumes(web(), none).actions).toMatchObject([
    {
      type: 'create',
      object: {
        metadata: {
          name: 'web-scratch',
          namespace: 'default',
          ...template.metadata,
          ownerReferences: [{ kind: 'Pod', name: 'web', uid: 'web', controller: true, blockOwnerDeletion: true }],
        },
        spec: template.spec,
      },
    },
  ])
})

const owned = (): PersistentVolumeClaim => {
  const of = claim()
  return { ...of, metadata: { ...of.metadata, ownerReferences: [controllerRef(web())] } }
}

it('tells of a claim that is another’s, after which it makes none', () => {
  const of = web()
  const [scratch] = volumes
  const more = { ...of, spec: { ...of.spec, volumes: [...volumes, { ...scratch, name: 'more' }] } } as unknown as Pod
  const foreign = claim()
  const lookUp = (name: string) =>
    name === 'web-scratch' ? { ...foreign, metadata: { ...foreign.metadata, name } } : undefined
  expect(planEphemeralVolumes(more, lookUp).actions).toMatchObject([
    {
      type: 'event',
      eventType: 'Warning',
      reason: 'FailedBinding',
      message:
        'ephemeral volume scratch: PVC default/web-scratch was not created for pod default/web (pod is not owner)',
    },
  ])
})

it.each([
  ['its claim is there', web(), owned],
  ['it is on its way out', web({ deletionTimestamp: secondsAgo(0) }), none],
])('makes none where %s', (_, of, lookUp) => {
  expect(planEphemeralVolumes(of, lookUp).actions).toEqual([])
})
