import { expect, it } from 'vitest'
import { certificateRequests } from '../../testing/certificate-requests.ts'
import { parseCertificateRequest } from './certificate-request.ts'
import { apiClientSigner, nodeClientSigner, nodeServingSigner, signerRefusal } from './signers.ts'

const clientUsages = ['digital signature', 'key encipherment', 'client auth']
const servingUsages = ['digital signature', 'key encipherment', 'server auth']

it.each<readonly [string, keyof typeof certificateRequests, readonly string[], string | undefined]>([
  [apiClientSigner, 'jane', ['client auth'], undefined],
  [apiClientSigner, 'jane', clientUsages, undefined],
  [apiClientSigner, 'jane', servingUsages, 'invalid usage for client certificate: server auth'],
  [apiClientSigner, 'jane', ['digital signature'], 'missing required usage for client certificate: client auth'],
  [nodeClientSigner, 'node', clientUsages, undefined],
  [nodeClientSigner, 'node', ['digital signature', 'client auth'], undefined],
  [nodeClientSigner, 'node', ['client auth'], 'usages did not match [client auth digital signature key encipherment]'],
  [nodeClientSigner, 'node', servingUsages, 'usages did not match [client auth digital signature key encipherment]'],
  [nodeClientSigner, 'jane', clientUsages, 'subject organization is not system:nodes'],
  [nodeClientSigner, 'nodeServing', clientUsages, 'DNS subjectAltNames are not allowed'],
  [nodeServingSigner, 'nodeServing', servingUsages, undefined],
  [nodeServingSigner, 'node', servingUsages, 'DNS or IP subjectAltName is required'],
  [nodeServingSigner, 'rsa', servingUsages, 'subject organization is not system:nodes'],
  [
    nodeServingSigner,
    'nodeServing',
    clientUsages,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  ['example.com/own', 'jane', ['any'], undefined],
])('%s of a request of %s for %j: %s', (signerName, request, usages, refusal) => {
  const pem = Buffer.from(certificateRequests[request], 'base64').toString('latin1')
  const spec = { request: certificateRequests[request], signerName, usages }
  expect(signerRefusal(spec, parseCertificateRequest(pem))).toBe(refusal)
})
