import { type ResourceClaim, resourceClaims } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { testPod } from '../testing/pods.ts'
import { prepareDevices } from './claimed-devices.ts'

const pod = testPod({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared' }] })
const results = [{ request: 'gpu', driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' }]
const reservedFor = [{ resource: 'pods', name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '' }]

/** What comes of it on a node with such containers, where the claim has that status. */
async function outcome(isReal: boolean, status?: ResourceClaim['status']): Promise<string> {
  const client = createFakeClient(virtualEnvironment())
  if (status !== undefined) {
    const metadata = { namespace: 'default', name: 'shared' }
    await client.create(resourceClaims, {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata,
      spec: {},
      status,
    })
  }
  return prepareDevices(pod, { client, isReal }).then(
    () => 'prepared',
    ({ reason, message }) => `${reason} ${message}`,
  )
}

const failed = 'FailedPrepareDynamicResources Failed to prepare dynamic resources: prepare dynamic resources:'

it('are as if prepared where containers are not real', async () => {
  expect(await outcome(false, { allocation: { devices: { results } }, reservedFor })).toBe('prepared')
})

it('are missed where containers are real: there is no driver', async () => {
  expect(await outcome(true, { allocation: { devices: { results } }, reservedFor })).toBe(
    `${failed} ResourceClaim shared: DRA driver gpu.example.com is not registered: nodes that run processes have no drivers of devices`,
  )
  expect(await outcome(true, { allocation: {}, reservedFor })).toBe('prepared')
})

it.each([true, false])('belong to whom their claim is reserved for (real: %s)', async (isReal) => {
  expect(await outcome(isReal, { allocation: { devices: { results } } })).toMatch(
    new RegExp(`^${failed} pod .* is not allowed to use ResourceClaim shared`),
  )
  expect(await outcome(isReal)).toMatch(new RegExp(`^${failed} failed to fetch ResourceClaim shared referenced by pod`))
})
