/**
 * Who may use the API beside those whom a cluster knows itself, as a file says it: upstream's AuthenticationConfiguration.
 * https://kubernetes.io/docs/reference/config-api/apiserver-config.v1/
 */
import { isJsonObject } from '../json.ts'
import { boolean, list, object, optional, pointer, string } from '../schema/builders.ts'
import { compile } from '../schema/compile.ts'
import type { Infer } from '../schema/schema.ts'

const group = 'apiserver.config.k8s.io'
const kind = 'AuthenticationConfiguration'

/** Versions that a file may be in. They have the same fields. */
const versions: readonly string[] = ['v1', 'v1beta1', 'v1alpha1']

const nameOf = (type: string): string => `io.k8s.apiserver.pkg.apis.apiserver.v1.${type}`

export interface Issuer extends Infer<typeof issuer> {}
const issuer = object(nameOf('Issuer'), 'Who issues tokens.', {
  url: optional(string(), 'Its URL, which tokens have as `iss`.'),
  discoveryURL: optional(string(), 'Where its OpenID configuration is, unless that is below its URL.'),
  certificateAuthority: optional(string(), 'Authorities (PEM) that it is believed by; those of the host unless set.'),
  audiences: optional(list(string()), 'For whom tokens have to be: for one of these.'),
  audienceMatchPolicy: optional(string(), 'How `audiences` are compared; only MatchAny.'),
  egressSelectorType: optional(string(), 'Which way to go to it; there is but one here.'),
})

export interface ClaimValidationRule extends Infer<typeof claimValidationRule> {}
const claimValidationRule = object(nameOf('ClaimValidationRule'), 'What claims have to be like.', {
  claim: optional(string(), 'A claim that has to be there, as text.'),
  requiredValue: optional(string(), 'What that claim has to be.'),
  expression: optional(string(), 'CEL over `claims` that has to be true.'),
  message: optional(string(), 'What is said where the expression is false.'),
})

export interface PrefixedClaimOrExpression extends Infer<typeof prefixedClaimOrExpression> {}
const prefixedClaimOrExpression = object(
  nameOf('PrefixedClaimOrExpression'),
  'Text that a claim is, or an expression says.',
  {
    claim: optional(string(), 'The claim.'),
    prefix: pointer(string(), 'What is put before it.'),
    expression: optional(string(), 'CEL over `claims`.'),
  },
)

const claimOrExpression = object(nameOf('ClaimOrExpression'), 'Text that a claim is, or an expression says.', {
  claim: optional(string(), 'The claim.'),
  expression: optional(string(), 'CEL over `claims`.'),
})

const extraMapping = object(nameOf('ExtraMapping'), 'One more thing to know of users.', {
  key: optional(string(), 'Its name, with a domain before it.'),
  valueExpression: optional(string(), 'CEL over `claims`: a text, or a list of them.'),
})

export interface ClaimMappings extends Infer<typeof claimMappings> {}
const claimMappings = object(nameOf('ClaimMappings'), 'What users are called, and what is known of them.', {
  username: optional(prefixedClaimOrExpression, 'The name.'),
  groups: optional(prefixedClaimOrExpression, 'The groups.'),
  uid: optional(claimOrExpression, 'What tells users of one name apart.'),
  extra: optional(list(extraMapping), 'What else is known.'),
})

export interface UserValidationRule extends Infer<typeof userValidationRule> {}
const userValidationRule = object(nameOf('UserValidationRule'), 'What users have to be like.', {
  expression: optional(string(), 'CEL over `user` that has to be true.'),
  message: optional(string(), 'What is said where it is false.'),
})

/** Tokens of one issuer. */
export interface JwtAuthenticator extends Infer<typeof jwtAuthenticator> {}
const jwtAuthenticator = object(nameOf('JWTAuthenticator'), 'Tokens of one issuer, and whose they are.', {
  issuer: optional(issuer, 'Who issues them.'),
  claimValidationRules: optional(list(claimValidationRule), 'What their claims have to be like.'),
  claimMappings: optional(claimMappings, 'Whose they are.'),
  userValidationRules: optional(list(userValidationRule), 'Which users they may be for.'),
})

const anonymousCondition = object(nameOf('AnonymousAuthCondition'), 'Where nobody has to say who they are.', {
  path: optional(string(), 'The path of a request.'),
})

const anonymousConfig = object(nameOf('AnonymousAuthConfig'), 'Requests without credentials.', {
  enabled: optional(boolean, 'Whether they are taken at all.'),
  conditions: optional(list(anonymousCondition), 'Only at these paths; at all where there are none.'),
})

export interface AuthenticationConfiguration extends Infer<typeof authenticationConfiguration> {}
const authenticationConfiguration = object(nameOf(kind), 'Who may use the API.', {
  apiVersion: optional(string(), 'The version of this form.'),
  kind: optional(string(), `${kind}.`),
  jwt: optional(list(jwtAuthenticator), 'Issuers whose tokens are good.'),
  anonymous: optional(anonymousConfig, 'Requests without credentials; taken where this says nothing.'),
})

/**
 * The configuration that a JSON value is. Throws an Error that names the field for another kind or version, values of wrong types,
 * and fields that there are not.
 */
export function decodeAuthenticationConfiguration(value: unknown): AuthenticationConfiguration {
  if (!isJsonObject(value)) throw new Error(`must be an object of kind ${kind}`)
  const wanted = versions.map((version) => `${group}/${version}`)
  if (value.kind !== kind) throw new Error(`kind: must be ${kind}, not ${textOf(value.kind)}`)
  if (!wanted.some((each) => each === value.apiVersion)) {
    throw new Error(`apiVersion: must be ${wanted.join(', ')}, not ${textOf(value.apiVersion)}`)
  }
  return compile(authenticationConfiguration).decode(value, { fieldValidation: 'Strict' }).value
}

const textOf = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value))
