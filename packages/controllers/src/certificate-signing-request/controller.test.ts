import { type CertificateSigningRequest, certificateSigningRequests, type KubernetesObject } from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import { expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createCertificateApprover } from './controller.ts'

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
  await client.create<CertificateSigningRequest>(certificateSigningRequests, {
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
  await environment.clock.advance('1m')
  const gaps = askedAtMs.slice(1).map((at, index) => at - (askedAtMs[index] ?? 0))
  expect(gaps.slice(0, 4)).toEqual([200, 200, 400, 800])
  isAllowed = true
  await environment.clock.advance('2m')
  expect(client.calls.filter(({ subresource }) => subresource === 'approval')).not.toEqual([])
})
