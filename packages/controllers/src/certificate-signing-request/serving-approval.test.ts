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

it('gives no node the name of the API server', () => {
  const named = { ...surroundings, nodes: [node('kubernetes', '10.0.0.2')] }
  expect(servingRefusal(request(['kubernetes'], {}, 'kubernetes'), named)).toContain('a name of the API server')
})
