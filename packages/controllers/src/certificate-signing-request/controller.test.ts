import { type CertificateSigningRequest, certificateSigningRequests, type KubernetesObject } from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import type { FakeClient } from '@coracle/client/testing'
import { expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createCertificateApprover } from './controller.ts'

it('does not ask all the time where the clock was set back', async () => {
  const { environment, client } = await atWork(() => [createCertificateApprover()])
  let asked = 0
  const create = client.create.bind(client)
  client.create = (async (...parts: Parameters<typeof create>) => {
    if (parts[0].plural !== 'subjectaccessreviews') return create(...parts)
    asked += 1
    return { ...(parts[1] as KubernetesObject), status: { allowed: false } }
  }) as typeof client.create
  await createRequest(client)
  const now = environment.clock.now.bind(environment.clock)
  environment.clock.now = () => now() - 600_000
  await environment.clock.advance('2m')
  expect(asked).toBeLessThan(10)
})

it('asks again whether a request may be approved, each time after twice as long', async () => {
  const { environment, client } = await atWork(() => [createCertificateApprover()])
  const startMs = environment.clock.now()
  const askedAtMs: number[] = []
  let isAllowed = false
  const create = client.create.bind(client)
  client.create = (async (...parts: Parameters<typeof create>) => {
    const [resource, object] = parts
    if (resource.plural !== 'subjectaccessreviews') return create(...parts)
    askedAtMs.push(environment.clock.now() - startMs)
    return { ...(object as KubernetesObject), status: { allowed: isAllowed } }
  }) as typeof client.create
  await createRequest(client)
  await environment.clock.advance('1m')
  const gaps = askedAtMs.slice(1).map((at, index) => at - (askedAtMs[index] ?? 0))
  expect(gaps.slice(0, 4)).toEqual([200, 200, 400, 800])
  isAllowed = true
  await environment.clock.advance('2m')
  expect(client.calls.filter(({ subresource }) => subresource === 'approval')).not.toEqual([])
})

/** A request of a machine that wants to be a node. */
function createRequest(client: FakeClient): Promise<CertificateSigningRequest> {
  return client.create<CertificateSigningRequest>(certificateSigningRequests, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'node-1' },
    spec: {
      request: certificateRequests.node,
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'key encipherment', 'client auth'],
      username: 'system:bootstrap:abc',
    },
  } as CertificateSigningRequest)
}
