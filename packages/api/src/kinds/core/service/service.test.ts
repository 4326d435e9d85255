import { describe, expect, it } from 'vitest'
import {
  columnNames,
  created,
  type Draft,
  decoded,
  problemsOfCreate,
  problemsOfStatus,
  problemsOfUpdate,
  row,
} from '../../../../test/requests.ts'
import { describeFieldError } from '../../../field-error.ts'
import { validateObjectMeta } from '../../../object-meta-validation.ts'
import { services } from './service.ts'

const ports = [{ port: 80 }]
const spec = { selector: { app: 'web' }, ports }

describe('defaults of a service', () => {
  it('are an address in the cluster and a port that leads to the same port', () => {
    expect(decoded(services, { spec }).spec).toEqual({
      selector: { app: 'web' },
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    })
  })

  it.each<readonly [string, Draft, Draft]>([
    ['traffic from outside', { type: 'NodePort' }, { externalTrafficPolicy: 'Cluster' }],
    ['external addresses', { externalIPs: ['192.0.2.1'] }, { externalTrafficPolicy: 'Cluster' }],
    [
      'a load balancer',
      { type: 'LoadBalancer' },
      { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Cluster' },
    ],
    [
      'clients that keep their pod',
      { sessionAffinity: 'ClientIP' },
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } },
    ],
    ['a port by name', { ports: [{ port: 80, targetPort: 'http' }] }, { ports: [{ targetPort: 'http' }] }],
  ])('follow from %s', (_, changes, expected) => {
    expect(decoded(services, { spec: { ...spec, ...changes } }).spec).toMatchObject(expected)
  })

  it('say nothing of policies of a mere name', () => {
    const named = decoded(services, { spec: { type: 'ExternalName', externalName: 'db.example.com' } })
    expect(named.spec).toEqual({ type: 'ExternalName', externalName: 'db.example.com', sessionAffinity: 'None' })
  })

  it('drop the time of clients that do not keep their pod', () => {
    const config = { clientIP: { timeoutSeconds: 5 } }
    const { spec: complete } = decoded(services, { spec: { ...spec, sessionAffinityConfig: config } })
    expect(complete.sessionAffinityConfig).toBeUndefined()
  })

  it('give back what needs no change', () => {
    const complete = decoded(services, { spec: { ...spec, type: 'LoadBalancer' } })
    expect(services.applyDefaults?.(complete)).toBe(complete)
  })
})

describe('a new service', () => {
  it('takes its first address for its addresses, and has no status', () => {
    const service = created(services, {
      spec: { ...spec, clusterIP: 'None' },
      status: { loadBalancer: { ingress: [] } },
    })
    expect(service.spec.clusterIPs).toEqual(['None'])
    expect(service.status).toEqual({ loadBalancer: {} })
  })
})

describe('validation of a service', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['nothing wrong', {}, []],
    ['no ports', { ports: [] }, ['spec.ports: Required value']],
    ['no ports, and no address', { ports: [], clusterIP: 'None' }, []],
    [
      'a type that there is not',
      { type: 'Mesh' },
      [
        'spec.type: Unsupported value: "Mesh": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      'ports without names',
      { ports: [{ port: 80, name: 'http' }, { port: 443 }] },
      ['spec.ports[1].name: Required value'],
    ],
    [
      'a port twice',
      {
        ports: [
          { port: 80, name: 'a' },
          { port: 80, name: 'b' },
          { port: 80, name: 'c', protocol: 'UDP' },
        ],
      },
      [
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
      ],
    ],
    [
      'two ports of one name',
      {
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'a' },
        ],
      },
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    [
      'ports that are none',
      { ports: [{ port: 0, targetPort: 'has space' }] },
      [
        'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ports[0].targetPort: Invalid value: "has space": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      ],
    ],
    [
      'a node port of what nodes do not serve',
      { ports: [{ port: 80, nodePort: 30080 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      'a node port twice',
      {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 80, nodePort: 30080 },
          { name: 'b', port: 81, nodePort: 30080 },
        ],
      },
      ['spec.ports[1].nodePort: Duplicate value: 30080'],
    ],
    [
      'nodes that are reached without an address',
      { type: 'NodePort', clusterIP: 'None' },
      ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
    ],
    ['nothing wrong with the port of the node agents', { type: 'LoadBalancer', ports: [{ port: 10250 }] }, []],
    [
      'a name without a name, and with an address',
      { type: 'ExternalName', clusterIP: '10.0.0.1' },
      ['spec.clusterIPs: Forbidden: may not be set for ExternalName services', 'spec.externalName: Required value'],
    ],
    [
      'addresses that contradict each other',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2', '10.0.0.3'] },
      [
        'spec.clusterIPs: Invalid value: ["10.0.0.2","10.0.0.3"]: first value must match `clusterIP`',
        'spec.clusterIPs: Invalid value: ["10.0.0.2","10.0.0.3"]: may specify no more than one IP for each IP family',
      ],
    ],
    [
      'an address of another family than asked for',
      { clusterIP: '10.0.0.1', ipFamilies: ['IPv6'] },
      ['spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`'],
    ],
    [
      'families that there are not',
      { ipFamilies: ['IPv4', 'IPv4', 'IPX'] },
      [
        'spec.ipFamilies[1]: Duplicate value: "IPv4"',
        'spec.ipFamilies[2]: Unsupported value: "IPX": supported values: "IPv4", "IPv6"',
      ],
    ],
    [
      'external addresses that lead back',
      { externalIPs: ['127.0.0.1', '0.0.0.0', 'fe80::1'] },
      [
        'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'spec.externalIPs[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
        'spec.externalIPs[2]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      ],
    ],
    [
      'what only load balancers have',
      { loadBalancerClass: 'x', allocateLoadBalancerNodePorts: true, loadBalancerSourceRanges: ['10.0.0.0/33'] },
      [
        "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
        'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
        "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      ],
    ],
    ['a policy for traffic from outside that says nothing', { externalTrafficPolicy: '' as never }, []],
    [
      'a port that speaks nothing',
      { ports: [{ port: 80, appProtocol: '' }] },
      [
        'spec.ports[0].appProtocol: Invalid value: "": name part must be non-empty',
        `spec.ports[0].appProtocol: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ],
    ],
    [
      'policies for traffic that there is not',
      { externalTrafficPolicy: 'Local', healthCheckNodePort: 30000 },
      [
        'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
        "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
    [
      'clients that keep their pod too long',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
      [
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
      ],
    ],
  ])('says of %s', (_, changes, problems) => {
    expect(problemsOfCreate(services, { spec: { ...spec, ...changes } })).toEqual(problems)
  })

  it('takes conditions as they are, as upstream, also without a time', () => {
    const conditions = [{ type: 'StatusUpdate', status: 'True', reason: 'Test', message: 'set' }, { type: '' }]
    expect(problemsOfStatus(services, { spec, status: { conditions } })).toEqual([])
    expect(decoded(services, { spec, status: { conditions } }).status?.conditions?.[1]).toEqual({
      type: '',
      status: '',
      reason: '',
      message: '',
    })
  })

  it('says how a load balancer is reached', () => {
    const draft = { spec: { ...spec, type: 'LoadBalancer' } }
    const ingress = (...each: readonly Draft[]) => ({ ...draft, status: { loadBalancer: { ingress: each } } })
    expect(problemsOfStatus(services, ingress({ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }))).toEqual([])
    expect(problemsOfStatus(services, ingress({ hostname: '192.0.2.1' }, { ipMode: 'VIP' }))).toEqual([
      'status.loadBalancer.ingress[0].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
      'status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` is not set',
    ])
    expect(problemsOfStatus(services, ingress({ hostname: '192.0.2.01' }))).toEqual([
      'status.loadBalancer.ingress[0].hostname: Invalid value: "192.0.2.01": must be a DNS name, not an IP address',
    ])
    expect(problemsOfStatus(services, { spec, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } })).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ])
  })

  it('keeps an address that load balancers are known to have, and takes no other one like it', () => {
    const reachedAt = (...ips: readonly string[]) => {
      const status = { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } }
      return { spec: { ...spec, type: 'LoadBalancer' }, status }
    }
    const before = reachedAt('192.0.2.01')
    expect(problemsOfStatus(services, reachedAt('192.0.2.01', '192.0.2.7'), before)).toEqual([])
    expect(problemsOfStatus(services, reachedAt('192.0.2.02', '192.0.2.01'), before)).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "192.0.2.02": must not have leading 0s',
    ])
  })
})

describe('an update of a service', () => {
  const allocated = {
    ...spec,
    type: 'NodePort',
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ports: [{ name: 'http', port: 80, nodePort: 30080 }],
  }
  const updated = (before: Draft, after: Draft) => {
    const [old, service] = [decoded(services, { spec: before }), decoded(services, { spec: after })]
    return (services.strategy.prepareForUpdate?.(service, old, 0) ?? service).spec
  }

  it('keeps what has been allocated', () => {
    const named = [
      { name: 'https', port: 443 },
      { name: 'http', port: 8080 },
    ]
    expect(updated(allocated, { ...spec, type: 'NodePort', ports: named })).toMatchObject({
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      ports: [
        { name: 'https', port: 443 },
        { name: 'http', port: 8080, nodePort: 30080 },
      ],
    })
  })

  it('does not give a node port to two ports', () => {
    const swapped = [
      { name: 'https', port: 443, nodePort: 30080 },
      { name: 'http', port: 80 },
    ]
    const { ports: kept = [] } = updated(allocated, { ...allocated, ports: swapped })
    expect(kept.map(({ nodePort }) => nodePort)).toEqual([30080, undefined])
  })

  it('frees node ports with the type that needs them', () => {
    expect(updated(allocated, { ...allocated, type: 'ClusterIP' }).ports).toEqual([
      { name: 'http', protocol: 'TCP', port: 80, targetPort: 80 },
    ])
  })

  it('frees node ports although ports come and go with the type, unless one asks for another node port', () => {
    const [http, https] = [
      { name: 'http', port: 80, nodePort: 30080 },
      { name: 'https', port: 443, nodePort: 30443 },
    ]
    const left = (before: readonly Draft[], after: readonly Draft[]) => {
      const { ports = [] } = updated({ ...allocated, ports: before }, { ...spec, type: 'ClusterIP', ports: after })
      return ports.map(({ nodePort }) => nodePort)
    }
    expect(left([http], [http, { name: 'more', port: 81 }])).toEqual([undefined, undefined])
    expect(left([http, https], [https])).toEqual([undefined])
    expect(left([http], [{ ...http, nodePort: 30081 }])).toEqual([30081])
    expect(left([http], [http, https])).toEqual([30080, 30443])
  })

  it('keeps the node ports of a load balancer that is to have none from now on', () => {
    const balanced = { ...allocated, type: 'LoadBalancer' }
    expect(updated(balanced, { ...balanced, allocateLoadBalancerNodePorts: false }).ports).toMatchObject([
      { name: 'http', nodePort: 30080 },
    ])
  })

  it('is no longer reached through a load balancer once it is none', () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
    const after = (type: string) =>
      services.strategy.prepareForUpdate?.(
        decoded(services, { spec: { ...allocated, type }, status }),
        decoded(services, { spec: { ...allocated, type: 'LoadBalancer' }, status }),
        0,
      )
    expect(after('LoadBalancer')?.status).toMatchObject(status)
    expect(after('ClusterIP')?.status).toEqual({ loadBalancer: {} })
  })

  it('has no traffic policy where it is a mere name, whatever is asked for', () => {
    const name = { type: 'ExternalName', externalName: 'web.example.com', internalTrafficPolicy: 'Cluster' }
    expect(created(services, { spec: name }).spec).not.toHaveProperty('internalTrafficPolicy')
    expect(updated({ ...name, internalTrafficPolicy: undefined }, name)).not.toHaveProperty('internalTrafficPolicy')
  })

  it('frees addresses of what becomes a mere name', () => {
    const { clusterIP, clusterIPs, internalTrafficPolicy } = updated(allocated, {
      ...allocated,
      type: 'ExternalName',
      externalName: 'web.example.com',
    })
    expect([clusterIP, clusterIPs, internalTrafficPolicy]).toEqual([undefined, undefined, undefined])
  })

  it('does not change the address', () => {
    const update = (changes: Draft) =>
      problemsOfUpdate(services, { spec: allocated }, { spec: { ...allocated, ...changes } })
    expect(update({ clusterIP: '10.0.0.2' })).toEqual([
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ])
    expect(update({ selector: { app: 'db' } })).toEqual([])
  })

  it('does not change the port where load balancers ask how nodes are, as long as they do', () => {
    const asked = {
      ...allocated,
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 32000,
    }
    const update = (changes: Draft) => problemsOfUpdate(services, { spec: asked }, { spec: { ...asked, ...changes } })
    expect(update({ healthCheckNodePort: 32001 })).toEqual(['spec.healthCheckNodePort: Forbidden: field is immutable'])
    expect(update({ healthCheckNodePort: undefined })).toEqual([])
    expect(update({ externalTrafficPolicy: 'Cluster' })).toEqual([])
  })

  const twice = {
    ...allocated,
    ipFamilyPolicy: 'RequireDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
    clusterIPs: [allocated.clusterIP, 'fd00::1'],
  }
  it.each<readonly [Draft, readonly string[]]>([
    [
      { clusterIPs: [allocated.clusterIP, 'fd00::2'] },
      ['clusterIPs[1]: Invalid value: ["10.0.0.1","fd00::2"]: may not change once set'],
    ],
    [
      { clusterIPs: [allocated.clusterIP], ipFamilies: ['IPv4'] },
      [
        'ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
        'ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
      ],
    ],
    [{ clusterIPs: [allocated.clusterIP], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }, []],
    [
      { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', allocated.clusterIP], ipFamilies: ['IPv6', 'IPv4'] },
      [
        'clusterIPs[0]: Invalid value: ["fd00::1","10.0.0.1"]: may not change once set',
        'clusterIPs[1]: Invalid value: ["fd00::1","10.0.0.1"]: may not change once set',
        'ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
        'ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
      ],
    ],
  ])('does not change one of two addresses or families: %j', (changes, expected) => {
    const problems = problemsOfUpdate(services, { spec: twice }, { spec: { ...twice, ...changes } })
    expect(problems).toEqual(expected.map((each) => `spec.${each}`))
    expect(problemsOfUpdate(services, { spec: allocated }, { spec: twice })).toEqual([])
  })

  it('does not change the load balancer', () => {
    const balanced = { ...spec, type: 'LoadBalancer', loadBalancerClass: 'a' }
    expect(problemsOfUpdate(services, { spec: balanced }, { spec: { ...balanced, loadBalancerClass: 'b' } })).toEqual([
      'spec.loadBalancerClass: Invalid value: "b": may not change once set',
    ])
  })
})

describe('annotations of a service', () => {
  const ranges = 'service.beta.kubernetes.io/load-balancer-source-ranges'
  const [mode, hints] = ['service.kubernetes.io/topology-mode', 'service.kubernetes.io/topology-aware-hints']
  it.each<readonly [string, Draft, readonly string[]]>([
    ['LoadBalancer', { [ranges]: ' 10.0.0.0/8 , fd00::/8 ' }, []],
    ['LoadBalancer', { [ranges]: '' }, []],
    [
      'LoadBalancer',
      { [ranges]: 'x,010.0.0.0/8' },
      [
        `[${ranges}]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
        `[${ranges}]: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length`,
      ],
    ],
    ['ClusterIP', { [ranges]: '' }, [`[${ranges}]: Forbidden: may only be used when \`type\` is 'LoadBalancer'`]],
    ['ClusterIP', { [mode]: 'Auto', [hints]: 'Auto' }, []],
    [
      'ClusterIP',
      { [mode]: 'Auto', [hints]: 'auto' },
      [`[${mode}]: Invalid value: "Auto": must match annotations[${hints}] when both are specified`],
    ],
  ])('of type %s: %j', (type, annotations, expected) => {
    const draft = { metadata: { name: 'web', annotations }, spec: { ...spec, type } }
    expect(problemsOfCreate(services, draft)).toEqual(expected.map((each) => `metadata.annotations${each}`))
  })
})

it('warns of what has no effect', () => {
  const warnings = (draft: Draft) => services.strategy.warnings?.(created(services, { spec: draft }), undefined)
  expect(warnings(spec)).toEqual([])
  expect(warnings({ ...spec, clusterIP: 'None', sessionAffinity: 'ClientIP', externalName: 'x' })).toEqual([
    'spec.SessionAffinity is ignored for headless services',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ])
  expect(warnings({ ...spec, externalIPs: ['FD00::1'], trafficDistribution: 'PreferClose' })).toEqual([
    'spec.externalIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ])
})

it('warns of addresses of load balancers that are not written as usual', () => {
  const ingress = [{ ip: '10.0.0.1' }, { hostname: 'a.b' }, { ip: 'FD00::1' }]
  const service = { ...created(services, { spec }), status: { loadBalancer: { ingress } } }
  expect(services.strategy.statusWarnings?.(service)).toEqual([
    'status.loadBalancer.ingress[2]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ])
})

it('may have a name that begins with a digit (https://kep.k8s.io/5311)', () => {
  const problems = (name: string) =>
    validateObjectMeta({ name, namespace: 'default' }, services).map(describeFieldError)
  expect(problems('1-web')).toEqual([])
  expect(problems('web.example')).toEqual([expect.stringContaining('metadata.name: Invalid value: "web.example"')])
})

describe('table of services', () => {
  it('has the columns of kubectl get', () => {
    expect(columnNames(services)).toEqual({
      shown: ['Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age'],
      wide: ['Selector'],
    })
  })

  it.each<readonly [Draft, Draft, Draft]>([
    [
      { ...spec, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
      {},
      { 'Cluster-IP': '10.0.0.1', 'External-IP': '<none>', 'Port(s)': '80/TCP', Selector: 'app=web' },
    ],
    [
      { type: 'NodePort', ports: [{ port: 53, protocol: 'UDP', nodePort: 30053 }] },
      {},
      { Type: 'NodePort', 'Cluster-IP': '<none>', 'Port(s)': '53:30053/UDP' },
    ],
    [{ ...spec, type: 'LoadBalancer' }, {}, { 'External-IP': '<pending>' }],
    [
      { ...spec, type: 'LoadBalancer', externalIPs: ['192.0.2.9'] },
      { loadBalancer: { ingress: [{ ip: '192.0.2.2' }, { hostname: 'a.example.com' }, { ip: '192.0.2.1' }] } },
      { 'External-IP': '192.0.2.1,192.0.2.2,a.example.com,192.0.2.9' },
    ],
    [
      { type: 'ExternalName', externalName: 'db.example.com' },
      {},
      { 'External-IP': 'db.example.com', 'Port(s)': '<none>', Selector: '<none>' },
    ],
  ])('shows %j with status %j', (of, status, expected) => {
    expect(row(services, { spec: of, status }, 0)).toMatchObject(expected)
  })

  it('can be filtered by type and address', () => {
    const service = decoded(services, { spec: { ...spec, clusterIP: '10.0.0.1' } })
    const { selectableFields } = services
    expect([selectableFields['spec.type']?.(service), selectableFields['spec.clusterIP']?.(service)]).toEqual([
      'ClusterIP',
      '10.0.0.1',
    ])
  })
})
