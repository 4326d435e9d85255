import { expect, it } from 'vitest'
import { keyPairProblem } from './tls-warnings.ts'

const pem = (type: string) => `-----BEGIN ${type}-----\nYQ==\n-----END ${type}-----\n`
const problemOf = (certificate: string, key: string) =>
  keyPairProblem(Buffer.from(certificate).toString('base64'), Buffer.from(key).toString('base64'))

it.each([
  ['a', 'b', 'tls: failed to find any PEM data in certificate input'],
  [
    pem('PRIVATE KEY'),
    '',
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  [pem('CERTIFICATE'), 'b', 'tls: failed to find any PEM data in key input'],
  [pem('CERTIFICATE'), pem('CERTIFICATE'), 'tls: found a certificate rather than a key in the PEM for the private key'],
  [pem('CERTIFICATE'), pem('EC PRIVATE KEY'), 'x509: malformed certificate'],
])('a certificate %j with the key %j', (certificate, key, problem) => {
  expect(problemOf(certificate, key)).toBe(problem)
})
