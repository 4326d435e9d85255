import { expect, it } from 'vitest'
import type { PersistentVolumeClaim, Pod } from '../index.ts'
import { claimsOfPod, whyNotMadeFor } from './pod-claims.ts'

const pod = (volumes?: readonly object[]): Pod =>
  ({ metadata: { namespace: 'default', name: 'web', uid: 'pod' }, spec: { containers: [], volumes } }) as unknown as Pod

it('finds the claims that a pod names, and those of its ephemeral volumes', () => {
  const volumes = [
    { name: 'config', configMap: { name: 'config' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'shop' } },
    { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } },
  ]
  expect(claimsOfPod(pod(volumes))).toEqual(['shop', 'web-scratch'])
  expect(claimsOfPod(pod())).toEqual([])
})

const claim = (owner: object): PersistentVolumeClaim =>
  ({
    metadata: { namespace: 'default', name: 'web-scratch', ownerReferences: [owner] },
  }) as unknown as PersistentVolumeClaim

it.each([
  ['is controlled by it', { uid: 'pod', controller: true }, undefined],
  ['has it for an owner, not its controller', { uid: 'pod' }, 'default/web-scratch'],
  ['is another’s', { uid: 'other', controller: true }, 'default/web-scratch'],
])('a claim by the name of a pod’s ephemeral volume %s', (_, owner, complaint) => {
  const why = whyNotMadeFor(pod(), claim(owner))
  if (complaint === undefined) expect(why).toBeUndefined()
  else expect(why).toBe(`PVC ${complaint} was not created for pod default/web (pod is not owner)`)
})
