import { describe, expect, it } from 'vitest'
import { created, problemsOfCreate, problemsOfStatus, problemsOfUpdate, row } from '../../../test/requests.ts'
import { ingresses } from './ingress.ts'
import { ingressClasses, isDefaultIngressClass } from './ingress-class.ts'

const backend = { service: { name: 'web', port: { number: 80 } } }
const withPath = (path: object, host?: string) => ({
  spec: {
    rules: [
      {
        ...(host === undefined ? {} : { host }),
        http: { paths: [{ backend, pathType: 'Prefix', path: '/', ...path }] },
      },
    ],
  },
})
const at = 'spec.rules[0].http.paths[0]'

describe('validation of an ingress', () => {
  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', withPath({}, '*.example.com'), []],
    ['only a default', { spec: { defaultBackend: backend } }, []],
    ['nothing', {}, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
    ['no paths', { spec: { rules: [{ http: {} }] } }, ['spec.rules[0].http.paths: Required value']],
    [
      'an address as host',
      withPath({}, '10.0.0.1'),
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
    [
      'a star in the middle',
      withPath({}, 'a.*.com'),
      [
        "spec.rules[0].host: Invalid value: \"a.*.com\": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'no type of path',
      withPath({ pathType: undefined }),
      [`${at}.pathType: Required value: pathType must be specified`],
    ],
    [
      'a type nobody knows',
      withPath({ pathType: '' }),
      [`${at}.pathType: Unsupported value: "": supported values: "Exact", "ImplementationSpecific", "Prefix"`],
    ],
    [
      'another path type',
      withPath({ pathType: 'Regex' }),
      [`${at}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`],
    ],
    [
      'paths that lead elsewhere',
      withPath({ path: 'a//b/../c/.' }),
      [
        `${at}.path: Invalid value: "a//b/../c/.": must be an absolute path`,
        `${at}.path: Invalid value: "a//b/../c/.": must not contain '//'`,
        `${at}.path: Invalid value: "a//b/../c/.": must not contain '/../'`,
        `${at}.path: Invalid value: "a//b/../c/.": cannot end with '/.'`,
      ],
    ],
    ['a path of the controller’s own', withPath({ pathType: 'ImplementationSpecific', path: '/a//b' }), []],
    [
      'nowhere to go',
      withPath({ backend: {} }),
      [`${at}.backend: Invalid value: "": resource or service backend is required`],
    ],
    [
      'two ways to go',
      withPath({ backend: { ...backend, resource: { kind: 'Bucket', name: 'b' } } }),
      [`${at}.backend: Invalid value: "": cannot set both resource and service backends`],
    ],
    [
      'no port',
      withPath({ backend: { service: { name: 'web' } } }),
      [`${at}.backend: Required value: port name or number is required`],
    ],
    [
      'two ports',
      withPath({ backend: { service: { name: 'web', port: { name: 'http', number: 80 } } } }),
      [`${at}.backend: Invalid value: "": cannot set both port name & port number`],
    ],
    [
      'a port that is none',
      withPath({ backend: { service: { name: 'web', port: { number: 70000 } } } }),
      [`${at}.backend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive`],
    ],
    [
      'a certificate of nobody',
      { spec: { defaultBackend: backend, tls: [{ hosts: ['a_b'], secretName: 'A' }] } },
      [
        expect.stringContaining('spec.tls[0].hosts[0]: Invalid value: "a_b"') as never,
        expect.stringContaining('spec.tls[0].secretName: Invalid value: "A"') as never,
      ],
    ],
  ])('%s', (_, draft, problems) => {
    expect(problemsOfCreate(ingresses, { ...draft })).toEqual(problems)
  })

  it('lets the old annotation repeat the class, not contradict it', () => {
    const metadata = { name: 'x', annotations: { 'kubernetes.io/ingress.class': 'a' } }
    const spec = { defaultBackend: backend, ingressClassName: 'b' }
    expect(problemsOfCreate(ingresses, { metadata, spec })).toEqual([
      'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
    ])
    expect(problemsOfCreate(ingresses, { metadata, spec: { ...spec, ingressClassName: 'a' } })).toEqual([])
    const old = created(ingresses, { metadata, spec: { defaultBackend: backend } })
    expect(ingresses.strategy.warnings?.(old, undefined)).toEqual([
      'annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead',
    ])
    expect(ingresses.strategy.warnings?.(old, old)).toEqual([])
  })

  it('has no addresses for hosts, however they are written', () => {
    expect(problemsOfCreate(ingresses, { spec: { rules: [{ host: '010.0.0.1' }] } })).toEqual([
      'spec.rules[0].host: Invalid value: "010.0.0.1": must be a DNS name, not an IP address',
    ])
  })

  it('knows names from addresses in the status', () => {
    const status = {
      loadBalancer: { ingress: [{ ip: 'a' }, { hostname: '10.0.0.1' }, { ip: '10.0.0.1', hostname: 'a.b' }] },
    }
    expect(problemsOfStatus(ingresses, { ...withPath({}), status })).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ])
  })
})

it('an ingress is shown with its hosts and addresses', () => {
  const rules = ['a', 'b', 'c', 'd'].map((host) => ({ host }))
  const status = { loadBalancer: { ingress: [{ ip: '10.0.0.1' }, { hostname: 'a.b' }] } }
  expect(row(ingresses, { spec: { rules, tls: [{}], ingressClassName: 'nginx' }, status }, 0)).toMatchObject({
    Class: 'nginx',
    Hosts: 'a,b,c + 1 more...',
    Address: '10.0.0.1,a.b',
    Ports: '80, 443',
  })
  expect(row(ingresses, { spec: { rules: rules.slice(1) } }, 0)).toMatchObject({ Hosts: 'b,c,d', Class: '<none>' })
  expect(row(ingresses, {}, 0)).toMatchObject({ Hosts: '*', Ports: '80', Address: '' })
})

describe('an ingress class', () => {
  const parameters = { kind: 'Settings', apiGroup: 'example.com', name: 's' }
  const withSpec = (spec: object) => ({ spec: { controller: 'example.com/ingress', ...spec } })

  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', withSpec({ parameters }), []],
    ['no controller', {}, ['spec.controller: Required value']],
    [
      'a controller without a domain',
      withSpec({ controller: 'nginx' }),
      ['spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'a controller that is no path',
      withSpec({ controller: 'example.com/a b' }),
      [
        expect.stringContaining(
          'spec.controller: Invalid value: "a b": Invalid path (regex used for validation is',
        ) as never,
      ],
    ],
    [
      'a controller in letters of two bytes',
      withSpec({ controller: `example.com/${'é'.repeat(120)}` }),
      [
        'spec.controller: Too long: may not be more than 250 bytes',
        expect.stringContaining('Invalid path (regex used for validation is') as never,
      ],
    ],
    [
      'parameters somewhere',
      withSpec({ parameters: { ...parameters, scope: 'Namespace' } }),
      ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
    ],
    [
      'parameters of the cluster in a namespace',
      withSpec({ parameters: { ...parameters, namespace: 'n' } }),
      ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
    ],
  ])('%s', (_, draft, problems) => {
    expect(problemsOfCreate(ingressClasses, { ...draft })).toEqual(problems)
  })

  it('keeps its controller', () => {
    expect(problemsOfUpdate(ingressClasses, withSpec({}), withSpec({ controller: 'example.com/other' }))).toEqual([
      'spec.controller: Invalid value: "example.com/other": field is immutable',
    ])
    expect(problemsOfUpdate(ingressClasses, withSpec({}), withSpec({ controller: undefined }))).toContain(
      'spec.controller: Invalid value: "": field is immutable',
    )
  })

  it('is shown with its parameters, and is the default one by annotation', () => {
    expect(row(ingressClasses, withSpec({ parameters }), 0)).toMatchObject({ Parameters: 'Settings.example.com/s' })
    const metadata = { name: 'x', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } }
    expect(isDefaultIngressClass(created(ingressClasses, { ...withSpec({}), metadata }))).toBe(true)
    expect(isDefaultIngressClass(created(ingressClasses, withSpec({})))).toBe(false)
  })
})
