import { object, optional, required, string } from '../schema/builders.ts'
import type { ServerPath } from './discovery.ts'

const json = 'application/json'

const versionInfo = object('io.k8s.apimachinery.pkg.version.Info', 'Which version a server is of.', {
  major: required(string(), 'The major version of the program.'),
  minor: required(string(), 'The minor version of the program.'),
  emulationMajor: optional(string(), 'The major version that it behaves as.'),
  emulationMinor: optional(string(), 'The minor version that it behaves as.'),
  minCompatibilityMajor: optional(string(), 'The major version of the oldest that it works with.'),
  minCompatibilityMinor: optional(string(), 'The minor version of the oldest that it works with.'),
  gitVersion: required(string(), 'The version as a whole.'),
  gitCommit: required(string(), 'The commit it is built of.'),
  gitTreeState: required(string(), 'Whether anything was changed since that commit.'),
  buildDate: required(string(), 'When it was built.'),
  goVersion: required(string(), 'The version of Go it is built with.'),
  compiler: required(string(), 'What it is compiled with.'),
  platform: required(string(), 'What it runs on.'),
})

/** `/version`. */
export const versionPath: ServerPath = {
  path: '/version/',
  operationId: 'getCodeVersion',
  description: 'Tells which version the server is of.',
  tag: 'version',
  schema: versionInfo,
  produces: [json],
  consumes: [json],
}

/** Where a server tells how its tokens of service accounts can be checked. */
export const tokenIssuerPaths: readonly ServerPath[] = [
  {
    path: '/.well-known/openid-configuration/',
    operationId: 'getServiceAccountIssuerOpenIDConfiguration',
    description: 'Tells of the issuer of the tokens of service accounts (OpenID Connect Discovery).',
    tag: 'WellKnown',
    produces: [json],
  },
  {
    path: '/openid/v1/jwks/',
    operationId: 'getServiceAccountIssuerOpenIDKeyset',
    description: 'Tells the keys that tokens of service accounts are checked with, as a JSON Web Key Set.',
    tag: 'openid',
    produces: ['application/jwk-set+json'],
  },
]
