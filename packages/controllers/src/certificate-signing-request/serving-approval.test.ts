import { type CertificateSigningRequest, type Node, parseCertificateRequest } from '@coracle/api'
import { createCertificateKey, createCertificateRequest } from '@coracle/environment/certificates'
import { expect, it } from 'vitest'
import { isServingRequest, planServingApproval, servingRefusal } from './plan-serving-approval.ts'

const node = (name: string, ...addresses: string[]): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  }) as Node

const surroundings = {
  nodes: [
    node('far', '10.0.0.2', 'fd00::2', '127.0.0.1', '10.0.0.1', '10.96.0.9', '10.0.0.3'),
    node('near', '10.0.0.3'),
  ],
  serverNames: ['kubernetes', 'localhost', '10.0.0.1'],
  serviceRanges: ['10.96.0.0/12'],
}

const key = createCertificateKey()
function request(hosts: readonly string[], more: object = {}, name = 'far'): CertificateSigningRequest {
  const pem = createCertificateRequest(
    { commonName: `system:node:${name}`, organizations: ['system:nodes'], hosts },
    key,
  )
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
      username: `system:node:${name}`,
      groups: ['system:nodes'],
      ...more,
    },
  } as CertificateSigningRequest
}

it('makes requests that say who wants what', () => {
  const pem = createCertificateRequest(
    { commonName: 'a', organizations: ['b', 'c'], hosts: ['x', '10.0.0.2', 'fd00::2'] },
    key,
  )
  expect(parseCertificateRequest(pem)).toMatchObject({
    subject: { commonName: 'a', organization: ['b', 'c'] },
    names: { dnsNames: ['x'], ipAddresses: ['10.0.0.2', 'fd00::2'] },
  })
  expect(
    parseCertificateRequest(createCertificateRequest({ commonName: 'a', organizations: [] }, key)).names.dnsNames,
  ).toEqual([])
})

it.each([
  ['its name', request(['far'])],
  ['its name and addresses', request(['far', '10.0.0.2', 'fd00::2'])],
])('approves a node that asks for %s', (_, asked) => {
  expect(isServingRequest(asked)).toBe(true)
  expect(servingRefusal(asked, surroundings)).toBeUndefined()
  expect(planServingApproval(asked).actions).toMatchObject([{ subresource: 'approval' }])
})

it.each([
  ['somebody else asks', request(['far'], { username: 'system:node:near' }), 'asks for a certificate of'],
  ['who asks is no node', request(['far'], { groups: [] }), 'asks for a certificate of'],
  ['there is no such node', request(['away'], {}, 'away'), 'there is no node away'],
  ['it is for another name', request(['near']), 'is not the name of the node'],
  ['it is for an address that the node does not have', request(['far', '10.0.0.9']), 'is no address of the node'],
  ['it is for an address of the API server', request(['10.0.0.1']), 'an address of the API server'],
  ['it is for loopback', request(['127.0.0.1']), 'every machine has'],
  ['it is for an address of services', request(['10.96.0.9']), 'an address for services'],
  ['it is for an address that another node has too', request(['10.0.0.3']), 'an address of node near'],
  ['it is for no server', request(['far'], { usages: ['client auth'] }), 'usages'],
])('leaves it to people where %s', (_, asked, why) => {
  expect(servingRefusal(asked, surroundings)).toContain(why)
})

it.each([
  '0.0.0.1',
  '127.3.4.5',
  '169.254.1.1',
  '224.0.0.1',
  '229.1.1.1',
  '230.1.1.1',
  '239.255.255.250',
  '255.255.255.255',
  '::',
  '::1',
  'ff02::1',
  'fe80::1',
  'fe90::1',
  'feaf::1',
  'febf::1',
])('leaves %s to people, which is of more than one machine', (address) => {
  const claimed = { ...surroundings, nodes: [node('far', address)] }
  expect(servingRefusal(request([address]), claimed)).toBe(`every machine has the address ${address}`)
})

it.each([
  '1.0.0.1',
  '12.7.0.1',
  '128.0.0.1',
  '169.253.1.1',
  '223.1.1.1',
  '240.0.0.1',
  'fd00::1',
  'fec0::1',
  '2001:db8::ff02:1',
])('approves %s, which is of one machine', (address) => {
  const claimed = { ...surroundings, nodes: [node('far', address)] }
  expect(servingRefusal(request([address]), claimed)).toBeUndefined()
})

it('takes addresses of a node that it has inside or outside, and no names for addresses', () => {
  const addresses = [
    { type: 'ExternalIP', address: '10.0.0.2' },
    { type: 'Hostname', address: '10.0.0.4' },
    { type: 'InternalDNS', address: '10.0.0.5' },
  ]
  const claimed = { ...surroundings, nodes: [{ ...node('far'), status: { addresses } } as Node] }
  expect(servingRefusal(request(['10.0.0.2']), claimed)).toBeUndefined()
  for (const address of ['10.0.0.4', '10.0.0.5'])
    expect(servingRefusal(request([address]), claimed)).toBe(`${address} is no address of the node`)
})

it('knows an address however it is written, and a name in any case', () => {
  const claimed = {
    ...surroundings,
    serverNames: ['KUBERNETES', 'FD00:0::2'],
    nodes: [node('far', 'fd00:0:0::2', 'FD00::3')],
  }
  expect(servingRefusal(request(['fd00::2']), claimed)).toBe('fd00::2 is an address of the API server')
  expect(servingRefusal(request(['fd00::3']), claimed)).toBeUndefined()
  const named = { ...claimed, nodes: [node('kubernetes', '10.0.0.2')] }
  expect(servingRefusal(request(['kubernetes'], {}, 'kubernetes'), named)).toContain('a name of the API server')
})

it.each([
  ['has its certificate', { status: { certificate: 'YQ==' } }],
  ['was approved', { status: { conditions: [{ type: 'Approved', status: 'True' }] } }],
  ['was denied', { status: { conditions: [{ type: 'Denied', status: 'True' }] } }],
])('leaves a request alone that %s', (_, more) => {
  expect(isServingRequest({ ...request(['far']), ...more } as CertificateSigningRequest)).toBe(false)
})

it('leaves requests for other signers alone', () => {
  expect(isServingRequest(request(['far'], { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' }))).toBe(false)
})

it('says of a request that it is approved, beside what is said of it, and why', () => {
  const asked = request(['far'])
  const odd = { type: 'Odd', status: 'True' } as never
  expect(planServingApproval({ ...asked, status: { conditions: [odd] } }).actions).toEqual([
    {
      type: 'update',
      resource: expect.objectContaining({ plural: 'certificatesigningrequests' }),
      subresource: 'approval',
      because: 'a node asks for a certificate of its own name and addresses',
      object: {
        ...asked,
        status: {
          conditions: [
            odd,
            {
              type: 'Approved',
              status: 'True',
              reason: 'AutoApproved',
              message:
                'Auto approving kubelet serving certificate: it names the node that asks for it, and addresses of its own.',
            },
          ],
        },
      },
    },
  ])
})

it('gives no node the name of the API server', () => {
  const named = { ...surroundings, nodes: [node('kubernetes', '10.0.0.2')] }
  expect(servingRefusal(request(['kubernetes'], {}, 'kubernetes'), named)).toContain('a name of the API server')
})
