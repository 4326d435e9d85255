import { X509Certificate } from 'node:crypto'
import { realEnvironment } from '@coracle/environment'
import { issueServingCertificate } from '@coracle/environment/certificates'
import { expect, it } from 'vitest'
import { createAuthority, createPki } from '../certificates.ts'
import { answerBytesMax, getJson } from './get-json.ts'
import { startTestIssuer } from './testing/test-issuer.ts'

it('gets JSON, with large numbers as they are', async () => {
  const { url, certificateAuthority } = await startTestIssuer([], { '/a': '{"id": 9007199254740993}' })
  expect(await getJson(`${url}/a`, certificateAuthority)).toEqual({ id: 9007199254740993n })
})

it('follows redirects, and not for ever', async () => {
  const { url, certificateAuthority, paths } = await startTestIssuer([], {
    '/a': { status: 302, location: '/b' },
    '/b': '[]',
    '/loop': { status: 307, location: '/loop' },
    '/clear': { status: 302, location: 'http://127.0.0.1/b' },
  })
  expect(await getJson(`${url}/a`, certificateAuthority)).toEqual([])
  expect(paths).toEqual(['/a', '/b'])
  await expect(getJson(`${url}/loop`, certificateAuthority)).rejects.toThrow(`get ${url}/loop: more than 5 redirects`)
  await expect(getJson(`${url}/clear`, certificateAuthority)).rejects.toThrow('URL scheme must be https')
})

it.each([
  ['another status', '/none', 'status 404'],
  ['what is not JSON', '/text', 'the answer is not JSON'],
  ['too much', '/long', `the answer has more than ${answerBytesMax} bytes`],
])('refuses %s', async (_what, path, why) => {
  const answers = { '/text': 'keys', '/long': JSON.stringify('x'.repeat(answerBytesMax)) }
  const { url, certificateAuthority } = await startTestIssuer([], answers)
  await expect(getJson(url + path, certificateAuthority)).rejects.toThrow(`get ${url}${path}: ${why}`)
})

it('believes a server whose certificate has the name of its authority, as Go does', async () => {
  const environment = realEnvironment()
  const ca = createAuthority(environment)
  const commonName = new X509Certificate(ca.certificatePem).subject.replace('CN=', '')
  const issuerSignedBy = (signer: typeof ca) => {
    const serving = issueServingCertificate(environment, signer, { commonName, hosts: ['127.0.0.1'] })
    return startTestIssuer([], { '/a': '[]' }, { ca, serving })
  }
  const own = await issuerSignedBy(ca)
  expect(await getJson(`${own.url}/a`, ca.certificatePem)).toEqual([])
  const other = await issuerSignedBy(createAuthority(environment))
  await expect(getJson(`${other.url}/a`, ca.certificatePem)).rejects.toThrow(/certificate/)
  expect(other.paths).toEqual([])
})

it('believes nobody else, and asks nothing in clear', async () => {
  const { url, paths } = await startTestIssuer([], { '/a': '[]' })
  await expect(getJson(`${url}/a`, createPki(realEnvironment()).ca.certificatePem)).rejects.toThrow(/certificate/)
  await expect(getJson(`${url}/a`, undefined)).rejects.toThrow(/certificate/)
  await expect(getJson('http://127.0.0.1:1/a', undefined)).rejects.toThrow('URL scheme must be https')
  expect(paths).toEqual([])
})
