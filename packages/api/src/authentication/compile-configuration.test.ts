import { expect, it } from 'vitest'
import { describeFieldError } from '../field-error.ts'
import { compileAuthenticationConfiguration } from './compile-configuration.ts'
import { decodeAuthenticationConfiguration } from './configuration.ts'

const issuer = { url: 'https://issuer.example.com', audiences: ['coracle'] }
const claimMappings = { username: { claim: 'sub', prefix: '' } }
const trusted = { issuer, claimMappings }

const configurationOf = (jwt: readonly object[], more: object = {}): unknown => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  jwt,
  ...more,
})

function problemsOf(jwt: readonly object[], more: object = {}): readonly string[] {
  const { problems } = compileAuthenticationConfiguration(
    decodeAuthenticationConfiguration(configurationOf(jwt, more)),
    {
      disallowedIssuers: ['https://kubernetes.default.svc'],
      certificateProblem: (pem) => (pem === 'PEM' ? undefined : 'no certificate'),
    },
  )
  return problems.map(describeFieldError)
}

const withIssuer = (more: object) => [{ ...trusted, issuer: { ...issuer, ...more } }]
const withMappings = (more: object) => [{ ...trusted, claimMappings: { ...claimMappings, ...more } }]
const withRules = (...claimValidationRules: readonly object[]) => [{ ...trusted, claimValidationRules }]
const withUserRules = (...userValidationRules: readonly object[]) => [{ ...trusted, userValidationRules }]
const withExtra = (...extra: readonly object[]) => withMappings({ extra })

it.each([
  ['one issuer', [trusted]],
  ['no issuer', []],
  [
    'all there is',
    [
      {
        issuer: {
          ...issuer,
          discoveryURL: 'https://10.0.0.1/config',
          certificateAuthority: 'PEM',
          audiences: ['a', 'b'],
          audienceMatchPolicy: 'MatchAny',
        },
        claimValidationRules: [
          { claim: 'hd', requiredValue: 'example.com' },
          { expression: 'claims.exp - claims.iat < 3600', message: 'too long' },
        ],
        claimMappings: {
          username: { expression: 'claims.email' },
          groups: { expression: 'claims.?roles.orValue([])' },
          uid: { claim: 'sub' },
          extra: [{ key: 'example.com/verified', valueExpression: 'string(claims.email_verified)' }],
        },
        userValidationRules: [{ expression: "!user.username.startsWith('system:')", message: 'reserved' }],
      },
    ],
  ],
])('takes a configuration of %s', (_what, jwt) => {
  expect(problemsOf(jwt, { anonymous: { enabled: true, conditions: [{ path: '/livez' }] } })).toEqual([])
})

it('takes keys of domains that only look like those of Kubernetes', () => {
  const keys = ['mykubernetes.io/a', 'notk8s.io/b', 'example.com/k8s.io']
  expect(problemsOf(withExtra(...keys.map((key) => ({ key, valueExpression: 'claims.a' }))))).toEqual([])
})

it('takes as many issuers as there may be', () => {
  const jwt = Array.from({ length: 64 }, (_, index) =>
    withIssuer({ url: `https://issuer-${index}.example.com` }),
  ).flat()
  expect(problemsOf(jwt)).toEqual([])
})

it('says where an issuer is, by which authority it is believed, and for whom its tokens are', () => {
  const given = { discoveryURL: 'https://10.0.0.1/config', certificateAuthority: 'PEM', audiences: ['a'] }
  const compiled = (more: object) =>
    compileAuthenticationConfiguration(decodeAuthenticationConfiguration(configurationOf(withIssuer(more))), {
      disallowedIssuers: [],
      certificateProblem: () => undefined,
    }).issuers.map(({ rules: _, ...issuer }) => issuer)
  const { url } = issuer
  expect(compiled(given)).toEqual([
    { url, discoveryUrl: given.discoveryURL, certificateAuthority: 'PEM', audiences: ['a'] },
  ])
  expect(compiled({})).toEqual([{ url, audiences: ['coracle'] }])
})

const prefixRequired =
  'Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing'

// https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/apis/apiserver/validation/validation.go
it.each<[string, readonly object[], readonly string[]]>([
  [
    'no issuer',
    [{ claimMappings }],
    [
      'jwt[0].issuer.url: Required value',
      'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required',
    ],
  ],
  [
    'a cleartext URL',
    withIssuer({ url: 'http://a.b' }),
    ['jwt[0].issuer.url: Invalid value: "http://a.b": URL scheme must be https'],
  ],
  [
    'no URL at all',
    withIssuer({ url: 'issuer' }),
    ['jwt[0].issuer.url: Invalid value: "issuer": URL scheme must be https'],
  ],
  ['a broken URL', withIssuer({ url: 'https://' }), ['jwt[0].issuer.url: Invalid value: "https://": must be a URL']],
  [
    'credentials in the URL',
    withIssuer({ url: 'https://u:p@a.b' }),
    ['jwt[0].issuer.url: Invalid value: "https://u:p@a.b": URL must not contain a username or password'],
  ],
  ...['https://u@a.b', 'https://:p@a.b'].map((url): [string, readonly object[], readonly string[]] => [
    `a part of credentials in the URL ${url}`,
    withIssuer({ url }),
    [`jwt[0].issuer.url: Invalid value: "${url}": URL must not contain a username or password`],
  ]),
  [
    'a URL with something before its scheme',
    withIssuer({ url: '//https://a.b' }),
    ['jwt[0].issuer.url: Invalid value: "//https://a.b": URL scheme must be https'],
  ],
  [
    'a query and a fragment',
    withIssuer({ url: 'https://a.b/?c#d' }),
    [
      'jwt[0].issuer.url: Invalid value: "https://a.b/?c#d": URL must not contain a query',
      'jwt[0].issuer.url: Invalid value: "https://a.b/?c#d": URL must not contain a fragment',
    ],
  ],
  [
    'the cluster itself',
    withIssuer({ url: 'https://kubernetes.default.svc' }),
    [
      'jwt[0].issuer.url: Invalid value: "https://kubernetes.default.svc": URL must not overlap with disallowed issuers: [https://kubernetes.default.svc]',
    ],
  ],
  [
    'the URL again for discovery',
    withIssuer({ discoveryURL: 'https://issuer.example.com/' }),
    [
      'jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.example.com/": discoveryURL must be different from URL',
    ],
  ],
  [
    'the URL again for discovery, whatever slashes end it',
    withIssuer({ url: 'https://issuer.example.com//', discoveryURL: 'https://issuer.example.com' }),
    [
      'jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.example.com": discoveryURL must be different from URL',
    ],
  ],
  [
    'a cleartext URL for discovery',
    withIssuer({ discoveryURL: 'http://a.b' }),
    ['jwt[0].issuer.discoveryURL: Invalid value: "http://a.b": URL scheme must be https'],
  ],
  [
    'no certificate',
    withIssuer({ certificateAuthority: 'x' }),
    ['jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": no certificate'],
  ],
  [
    'a way to go',
    withIssuer({ egressSelectorType: 'cluster' }),
    ['jwt[0].issuer.egressSelectorType: Invalid value: "cluster": must not be set: there is only one way to issuers'],
  ],
  ['an empty audience', withIssuer({ audiences: [''] }), ['jwt[0].issuer.audiences[0]: Required value']],
  [
    'an audience twice',
    withIssuer({ audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' }),
    ['jwt[0].issuer.audiences[1]: Duplicate value: "a"'],
  ],
  [
    'audiences without a policy',
    withIssuer({ audiences: ['a', 'b'] }),
    [
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
    ],
  ],
  [
    'another policy',
    withIssuer({ audienceMatchPolicy: 'MatchAll' }),
    [
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "MatchAll": audienceMatchPolicy must be empty or MatchAny for single audience',
    ],
  ],
  ['an issuer twice', [trusted, trusted], ['jwt[1].issuer.url: Duplicate value: "https://issuer.example.com"']],
  [
    'discovery twice',
    [
      ...withIssuer({ discoveryURL: 'https://a.b' }),
      ...withIssuer({ url: 'https://c.d', discoveryURL: 'https://a.b' }),
    ],
    ['jwt[1].issuer.discoveryURL: Duplicate value: "https://a.b"'],
  ],
  ['65 issuers', Array.from({ length: 65 }, () => trusted), ['jwt: Too many: 65: must have at most 64 items']],
  ['no mappings', [{ issuer }], ['jwt[0].claimMappings.username: Required value: claim or expression is required']],
  [
    'a claim without prefix',
    withMappings({ username: { claim: 'sub' }, groups: { claim: 'g' } }),
    [
      `jwt[0].claimMappings.username.prefix: ${prefixRequired}`,
      `jwt[0].claimMappings.groups.prefix: ${prefixRequired}`,
    ],
  ],
  [
    'claim and expression',
    withMappings({ username: { claim: 'a', expression: 'claims.a' }, uid: { claim: 'a', expression: 'claims.a' } }),
    [
      'jwt[0].claimMappings.username: Invalid value: "": claim and expression can\'t both be set',
      'jwt[0].claimMappings.uid: Invalid value: "": claim and expression can\'t both be set',
    ],
  ],
  [
    'a prefix of an expression',
    withMappings({ username: { expression: 'claims.sub', prefix: '' } }),
    ['jwt[0].claimMappings.username.prefix: Invalid value: "": may not be specified when expression is set'],
  ],
  [
    'mail that nobody has verified',
    withMappings({ username: { expression: 'claims.email' } }),
    [
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    ],
  ],
  [
    'extra without a domain',
    withExtra({ key: 'team', valueExpression: 'claims.team' }),
    [
      'jwt[0].claimMappings.extra[0].key: Invalid value: "team": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
  ],
  [
    'extra in capitals',
    withExtra({ key: 'acme.io/Team', valueExpression: 'claims.team' }),
    ['jwt[0].claimMappings.extra[0].key: Invalid value: "acme.io/Team": must be lowercase'],
  ],
  [
    'extra of Kubernetes',
    withExtra({ key: 'x.k8s.io/team', valueExpression: 'claims.team' }),
    [
      'jwt[0].claimMappings.extra[0].key: Invalid value: "x.k8s.io/team": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
    ],
  ],
  [
    'extra of Kubernetes itself',
    withExtra(
      { key: 'kubernetes.io/a', valueExpression: 'claims.a' },
      { key: 'k8s.io/a', valueExpression: 'claims.a' },
    ),
    [0, 1].map(
      (index) =>
        `jwt[0].claimMappings.extra[${index}].key: Invalid value: "${['kubernetes.io/a', 'k8s.io/a'][index]}": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use`,
    ),
  ],
  [
    'extra twice, and none',
    withExtra({ key: 'a.b/c', valueExpression: 'claims.d' }, { key: 'a.b/c' }, { key: 'a.b/d' }),
    [
      'jwt[0].claimMappings.extra[1].key: Duplicate value: "a.b/c"',
      'jwt[0].claimMappings.extra[2].valueExpression: Required value',
    ],
  ],
  [
    'a rule of nothing',
    withRules({}),
    ['jwt[0].claimValidationRules[0]: Required value: claim or expression is required'],
  ],
  [
    'a rule of both',
    withRules({ claim: 'a', expression: 'true' }),
    ['jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can\'t both be set'],
  ],
  [
    'a message for a claim',
    withRules({ claim: 'a', message: 'm' }),
    ['jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set'],
  ],
  [
    'a value for an expression',
    withRules({ expression: 'true', requiredValue: 'v' }),
    ['jwt[0].claimValidationRules[0].requiredValue: Invalid value: "v": may not be specified when expression is set'],
  ],
  [
    'rules twice',
    withRules({ claim: 'a' }, { claim: 'a' }, { expression: 'true' }, { expression: 'true' }),
    [
      'jwt[0].claimValidationRules[1].claim: Duplicate value: "a"',
      'jwt[0].claimValidationRules[3].expression: Duplicate value: "true"',
    ],
  ],
  [
    'rules of what constants cannot be, and with lists of several types',
    withRules({ expression: "int('x') == 1" }, { expression: "[1, 'a'].size() == 2" }),
    [
      "jwt[0].claimValidationRules[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'",
      expect.stringContaining("compilation failed: ERROR: <input>:1:5: expected type 'int' but found 'string'"),
    ],
  ],
  [
    'a rule that is no truth',
    withRules({ expression: 'claims.sub' }),
    ['jwt[0].claimValidationRules[0].expression: Invalid value: "claims.sub": must evaluate to bool'],
  ],
  [
    'a rule about users without expression',
    withUserRules({}),
    ['jwt[0].userValidationRules[0].expression: Required value'],
  ],
  [
    'a rule about users twice',
    withUserRules({ expression: 'true' }, { expression: 'true' }),
    ['jwt[0].userValidationRules[1].expression: Duplicate value: "true"'],
  ],
])('refuses %s', (_what, jwt, problems) => {
  expect(problemsOf(jwt)).toEqual(problems)
})

it.each([
  ['claims of users', withUserRules({ expression: 'claims.sub == "a"' }), /undeclared reference to 'claims'/],
  ['fields users do not have', withUserRules({ expression: 'user.mail == "a"' }), /undefined field 'mail'/],
  ['users of claims', withRules({ expression: 'user.username == "a"' }), /undeclared reference to 'user'/],
])('expressions cannot ask for %s', (_what, jwt, problem) => {
  expect(problemsOf(jwt).join()).toMatch(problem)
})

it.each([
  'has(claims.email_verified)',
  'claims.?email_verified.orValue(true) == true',
  '[claims].exists(c, claims.email_verified)',
])('mail counts as verified where something looks: %s', (expression) => {
  const [named] = withMappings({ username: { expression: 'claims.email' } })
  expect(problemsOf([{ ...named, claimValidationRules: [{ expression }] }])).toEqual([])
})

it('refuses conditions of anonymous requests that are not taken', () => {
  expect(problemsOf([], { anonymous: { enabled: false, conditions: [{ path: '/livez' }] } })).toEqual([
    'anonymous.conditions: Invalid value: [{"Path":"/livez"}]: enabled should be set to true when conditions are defined',
  ])
})

it.each([
  [[], 'must be an object of kind AuthenticationConfiguration'],
  [{ kind: 'Pod' }, 'kind: must be AuthenticationConfiguration, not "Pod"'],
  [
    { kind: 'AuthenticationConfiguration', apiVersion: 'v1' },
    'apiVersion: must be apiserver.config.k8s.io/v1, apiserver.config.k8s.io/v1beta1, apiserver.config.k8s.io/v1alpha1, not "v1"',
  ],
  [
    configurationOf([{ issuer: { url: 'https://a.b', audience: ['a'] } }]),
    /unknown field "jwt\[0\]\.issuer\.audience"/,
  ],
  [configurationOf([{ issuer: { url: 7 } }]), /url/],
])('refuses what is of another form: %j', (value, problem) => {
  expect(() => decodeAuthenticationConfiguration(value)).toThrow(problem)
})
