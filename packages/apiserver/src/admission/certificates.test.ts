import { type CertificateSigningRequest, certificateSigningRequests } from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import { describe, expect, it } from 'vitest'
import type { RequestAttributes } from '../request.ts'
import { refusal, startTestCore } from '../testing/test-core.ts'

const key = { name: 'jane' }
const request = (spec: object = {}): CertificateSigningRequest =>
  ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: key,
    spec: { request: certificateRequests.jane, signerName: 'example.com/own', usages: ['client auth'], ...spec },
  }) as CertificateSigningRequest

/** A client who may do everything but what is asked about signers: of these, only what is named as `verb name`. */
async function clientWith(...rights: readonly string[]) {
  const asked: string[] = []
  const refuse = (attributes: RequestAttributes): string | undefined => {
    if (attributes.kind === 'path' || attributes.resource.plural !== 'signers') return undefined
    const { verb, name, resource } = attributes
    asked.push(`${verb} ${resource.plural}.${resource.group} ${name}`)
    return rights.includes(`${verb} ${name}`) ? undefined : ''
  }
  const { core } = await startTestCore({ authorizer: { refuse: (_user, attributes) => refuse(attributes) } })
  const user = { name: 'ann', uid: 'u1', groups: ['staff'], extra: { scopes: ['a', 'b'] } }
  return { client: core.client({ name: user.name, groups: user.groups, uid: user.uid, extra: user.extra }), asked }
}

type TestClient = Awaited<ReturnType<typeof clientWith>>['client']
const setConditions = (client: TestClient, subresource: string, ...types: readonly string[]) => {
  const conditions = types.map((type) => ({ type, status: 'True', reason: 'Test' }))
  return client.patch(
    certificateSigningRequests,
    key,
    { type: 'merge', body: { status: { conditions } } },
    { subresource },
  )
}

describe('a new request', () => {
  it('says who made it, whatever it said of that itself', async () => {
    const { client } = await clientWith()
    const lies = { username: 'admin', uid: 'x', groups: ['system:masters'], extra: { scopes: ['all'] } }
    const { spec } = await client.create(certificateSigningRequests, request({ ...lies, expirationSeconds: 600 }))
    expect(spec).toEqual({
      ...request({ expirationSeconds: 600 }).spec,
      username: 'ann',
      uid: 'u1',
      groups: ['staff'],
      extra: { scopes: ['a', 'b'] },
    })
  })

  it('makes nobody a master by way of the signer of clients', async () => {
    const { client } = await clientWith()
    const wanted = request({ request: certificateRequests.masters, signerName: 'kubernetes.io/kube-apiserver-client' })
    expect(await refusal(client.create(certificateSigningRequests, wanted))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message:
        'certificatesigningrequests.certificates.k8s.io "jane" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    })
    await client.create(certificateSigningRequests, request({ request: certificateRequests.masters }))
  })
})

describe.each([
  ['approval', 'approve', 'approve', 'Approved'],
  ['status', 'sign', 'sign', 'Failed'],
])('a change of %s', (subresource, verb, what, condition) => {
  it('needs the right to its signer', async () => {
    const { client, asked } = await clientWith()
    await client.create(certificateSigningRequests, request())
    expect(await refusal(setConditions(client, subresource, condition))).toMatchObject({
      code: 403,
      message: `certificatesigningrequests.certificates.k8s.io "jane" is forbidden: user not permitted to ${what} requests with signerName "example.com/own"`,
    })
    const signers = 'signers.certificates.k8s.io'
    expect(asked).toEqual([`${verb} ${signers} example.com/own`, `${verb} ${signers} example.com/*`])
  })

  it.each(['example.com/own', 'example.com/*'])('is allowed with %s', async (signer) => {
    const { client } = await clientWith(`${verb} ${signer}`)
    await client.create(certificateSigningRequests, request())
    const { status } = await setConditions(client, subresource, condition)
    expect(status?.conditions).toEqual([
      {
        type: condition,
        status: 'True',
        reason: 'Test',
        lastUpdateTime: expect.any(String),
        lastTransitionTime: expect.any(String),
      },
    ])
  })
})

it('a change of status that leaves conditions and certificate needs no right to sign', async () => {
  const { client } = await clientWith()
  await client.create(certificateSigningRequests, request())
  const patch = { type: 'merge', body: { metadata: { annotations: { seen: 'yes' } } } } as const
  const { metadata } = await client.patch(certificateSigningRequests, key, patch, { subresource: 'status' })
  expect(metadata.annotations).toEqual({ seen: 'yes' })
})

it('what was decided is not decided otherwise', async () => {
  const { client } = await clientWith('approve example.com/own')
  await client.create(certificateSigningRequests, request())
  await setConditions(client, 'approval', 'Approved')
  expect((await refusal(setConditions(client, 'approval', 'Denied'))).message).toContain(
    'updates may not remove a condition of type "Approved"',
  )
  expect((await refusal(setConditions(client, 'approval', 'Approved', 'Denied'))).message).toContain(
    'Approved and Denied conditions are mutually exclusive',
  )
})

it('a request is approved with annotations, and nothing else of it is changed', async () => {
  const { client } = await clientWith('approve example.com/own')
  const { spec } = await client.create(certificateSigningRequests, request())
  const body = {
    metadata: { annotations: { by: 'ann' } },
    spec: { usages: ['any'] },
    status: { certificate: 'eA==', conditions: [{ type: 'Approved', status: 'True' }] },
  }
  const written = await client.patch(
    certificateSigningRequests,
    key,
    { type: 'merge', body },
    { subresource: 'approval' },
  )
  expect(written).toMatchObject({ metadata: { annotations: { by: 'ann' } }, spec })
  expect(written.status).toEqual({ conditions: [expect.objectContaining({ type: 'Approved' })] })
  expect(await client.get(certificateSigningRequests, key, { subresource: 'approval' })).toEqual(written)
})
