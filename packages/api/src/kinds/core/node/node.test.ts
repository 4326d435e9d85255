import { beforeAll, describe, expect, it } from 'vitest'
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
import { loadStructForms } from '../../../internal-structs/struct-value.ts'
import { checkFormat } from '../../../string-formats.ts'
import { nodes } from './node.ts'

beforeAll(loadStructForms)

describe('defaults of a node', () => {
  it('lets pods have all there is, unless it says otherwise', () => {
    const capacity = { cpu: '4', memory: '8Gi' }
    expect(decoded(nodes, { status: { capacity } }).status?.allocatable).toEqual(capacity)
    expect(decoded(nodes, { status: { capacity, allocatable: { cpu: '3' } } }).status?.allocatable).toEqual({
      cpu: '3',
    })
  })

  it.each<readonly [Draft, Draft]>([
    [{ podCIDR: '10.0.0.0/24' }, { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] }],
    [{ podCIDRs: ['10.0.0.0/24', 'fd00::/64'] }, { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', 'fd00::/64'] }],
    [
      { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.0.0/24'] },
      { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'] },
    ],
  ])('makes %j agree', (spec, agreed) => {
    expect(decoded(nodes, { spec }).spec).toEqual(agreed)
  })
})

it('may be created with its status', () => {
  const conditions = [{ type: 'Ready', status: 'True' }]
  expect(created(nodes, { status: { conditions } }).status).toMatchObject({
    conditions,
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: { kubeletVersion: '' },
  })
})

it('may have an address of no type', () => {
  const addresses = [{ address: '10.0.0.1' }]
  expect(problemsOfCreate(nodes, { status: { addresses } })).toEqual([])
  expect(created(nodes, { status: { addresses } }).status).toMatchObject({
    addresses: [{ type: '', address: '10.0.0.1' }],
  })
})

describe('validation of a node', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['nothing', {}, []],
    [
      'taints',
      {
        spec: {
          taints: [
            { key: 'a', value: 'b', effect: 'NoExecute' },
            { key: 'a', effect: 'NoSchedule' },
          ],
        },
      },
      [],
    ],
    [
      'a taint twice',
      {
        spec: {
          taints: [
            { key: 'a', value: '1', effect: 'NoExecute' },
            { key: 'a', value: '2', effect: 'NoExecute' },
          ],
        },
      },
      [
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"2","Effect":"NoExecute","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
    ['a taint without effect', { spec: { taints: [{ key: 'a' }] } }, ['metadata.taints[0].effect: Required value']],
    [
      'a taint with an unknown effect',
      { spec: { taints: [{ key: 'a', effect: 'Never' }] } },
      [
        'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    [
      'a range that is none',
      { spec: { podCIDRs: ['10.0.0.0/33'] } },
      [
        'spec.podCIDRs[0]: Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      'an address with the length of its network',
      { spec: { podCIDRs: ['10.0.0.1/24'] } },
      ['spec.podCIDRs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length'],
    ],
    [
      'an IPv4 range in the form of the other',
      { spec: { podCIDRs: ['::ffff:10.0.0.0/120'] } },
      ['spec.podCIDRs[0]: Invalid value: "::ffff:10.0.0.0/120": must not have an IPv4-mapped IPv6 address'],
    ],
    [
      'features without order or name',
      { status: { declaredFeatures: ['B', 'A', 'A', 'b'] } },
      [
        'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
        'status.declaredFeatures[2]: Duplicate value: "A"',
        'status.declaredFeatures[3]: Invalid value: "b": invalid feature name "b": must start with an UpperCamelCase segment, with subsequent segments separated by \'/\' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes',
      ],
    ],
    [
      'two ranges of one family',
      { spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } },
      [
        'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
      ],
    ],
    [
      'less than nothing',
      { status: { capacity: { cpu: '-1' }, allocatable: { cpu: '0' } } },
      ['status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      'parts of what cannot be parted',
      { status: { allocatable: { pods: '1500m', 'example.com/gpu': '500m', cpu: '1500m' } } },
      [
        'status.allocatable.pods: Invalid value: "1500m": must be an integer',
        'status.allocatable.example.com/gpu: Invalid value: "500m": must be an integer',
      ],
    ],
    [
      'parts of objects, and less than nothing of them',
      { status: { allocatable: { services: '1500m', pods: '-1500m' } } },
      [
        'status.allocatable.services: Invalid value: "1500m": must be an integer',
        'status.allocatable.pods: Invalid value: "-1500m": must be greater than or equal to 0',
        'status.allocatable.pods: Invalid value: "-1500m": must be an integer',
      ],
    ],
    [
      'parts of what is no resource of a vendor',
      {
        status: {
          allocatable: { 'a b/c': '1500m', 'requests.example.com/gpu': '1500m', 'x.kubernetes.io/y': '1500m' },
        },
      },
      [],
    ],
  ])('says of %s', (_, draft, problems) => {
    expect(problemsOfCreate(nodes, draft)).toEqual(problems)
  })

  it('looks at what there is when the status is updated too', () => {
    expect(problemsOfStatus(nodes, { status: { capacity: { cpu: '-1' } } })).toEqual([
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
    ])
  })

  it('rounds up what is finer than a thousandth', () => {
    expect(decoded(nodes, { status: { capacity: { cpu: '1u' } } }).status).toMatchObject({
      capacity: { cpu: '1m' },
      allocatable: { cpu: '1m' },
    })
  })

  it.each<readonly [string, Draft, Draft, readonly string[]]>([
    [
      'another configuration',
      { configSource: {} },
      { configSource: { configMap: { namespace: 'a_b', uid: '1', resourceVersion: '2' } } },
      [
        'spec.configSource.configMap.name: Required value',
        'spec.configSource.configMap.kubeletConfigKey: Required value',
        'spec.configSource.configMap.uid: Forbidden: uid must not be set in spec',
        'spec.configSource.configMap.resourceVersion: Forbidden: resourceVersion must not be set in spec',
        `spec.configSource.configMap.namespace: Invalid value: "a_b": ${checkFormat('dns1123-label', 'a_b').join()}`,
      ],
    ],
    ['a configuration where it had none', {}, { configSource: {} }, []],
    [
      'a configuration of nothing',
      { configSource: {} },
      { configSource: {} },
      ['spec.configSource: Invalid value: {"ConfigMap":null}: exactly one reference subfield must be non-nil'],
    ],
    ['taints and cordon', {}, { unschedulable: true, taints: [{ key: 'a', effect: 'NoSchedule' }] }, []],
    ['the first provider', {}, { providerID: 'kind://a' }, []],
    [
      'another provider',
      { providerID: 'kind://a' },
      { providerID: 'kind://b' },
      ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ],
    [
      'two other ranges',
      { podCIDRs: ['10.0.0.0/24', 'fd00::/112'] },
      { podCIDRs: ['fd00::/112', '10.0.0.0/24'] },
      Array(2).fill('spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'),
    ],
    [
      'another range',
      { podCIDR: '10.0.0.0/24' },
      { podCIDR: '10.0.1.0/24' },
      ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
    ],
    ['an external ID', {}, { externalID: 'a' }, ['spec.externalID: Forbidden: may not be updated']],
  ])('says of an update to %s', (_, before, after, problems) => {
    expect(problemsOfUpdate(nodes, { spec: before }, { spec: after })).toEqual(problems)
  })

  it('is not told where its configuration is, unless it was before', () => {
    const [configSource, config] = [{}, { error: 'none' }]
    expect(
      created(nodes, { spec: { configSource, unschedulable: true }, status: { config, phase: 'Running' } }),
    ).toMatchObject({ spec: { unschedulable: true }, status: { phase: 'Running' } })
    const fresh = created(nodes, { spec: { configSource }, status: { config } })
    expect([fresh.spec?.configSource, fresh.status?.config]).toEqual([undefined, undefined])
    const told = decoded(nodes, { spec: { configSource }, status: { config } })
    const { prepareForUpdate, prepareForStatusUpdate } = nodes.strategy
    expect(prepareForUpdate?.(told, told, 0)).toBe(told)
    expect(prepareForStatusUpdate?.(told, told, 0)).toEqual(told)
    expect(prepareForStatusUpdate?.(told, fresh, 0).status?.config).toBeUndefined()
  })

  const taintsOnce = 'scheduler.alpha.kubernetes.io/taints'
  const annotated = (name: string, text: string): Draft => ({ metadata: { name: 'x', annotations: { [name]: text } } })
  it.each<readonly [string, readonly string[]]>([
    ['', []],
    ['[{"key":"a","value":"b","effect":"NoSchedule"}]', []],
    ['[{"key":"a"', [`metadata.annotations: Invalid value: "${taintsOnce}": unexpected end of JSON input`]],
    [
      '[{"key":"a","effect":"Never"}]',
      [
        `metadata.annotations.${taintsOnce}[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
      ],
    ],
  ])('says of taints in an annotation: %s', (text, problems) => {
    expect(problemsOfCreate(nodes, annotated(taintsOnce, text))).toEqual(problems)
  })

  const avoided = 'scheduler.alpha.kubernetes.io/preferAvoidPods'
  const avoids = (podSignature: object): Draft => ({
    metadata: { name: 'x', annotations: { [avoided]: JSON.stringify({ preferAvoidPods: [{ podSignature }] }) } },
  })
  it.each<readonly [Draft, readonly string[]]>([
    [avoids({ podController: { kind: 'ReplicaSet', name: 'a', controller: true } }), []],
    [
      annotated(avoided, '{'),
      [`metadata.annotations.AvoidPods: Invalid value: "${avoided}": unexpected end of JSON input`],
    ],
    [avoids({}), [`metadata.annotations.${avoided}[0].PodSignature: Required value`]],
    [
      avoids({ podController: { kind: 'ReplicaSet', name: 'a', controller: false } }),
      [
        `metadata.annotations.${avoided}[0].PodSignature.PodController.Controller: Invalid value: false: must point to a controller`,
      ],
    ],
    [
      { status: { nodeInfo: { swap: { capacity: 0 } } } },
      ['metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero'],
    ],
    [
      { spec: { podCIDRs: ['10.0.0.1/16', '10.0.0.1/16'] } },
      [
        'spec.podCIDRs[0]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length',
        'spec.podCIDRs[1]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length',
        'spec.podCIDRs: Invalid value: ["10.0.0.1/16","10.0.0.1/16"]: may specify no more than one CIDR for each IP family',
      ],
    ],
  ])('says of %j', (draft, problems) => {
    expect(problemsOfCreate(nodes, draft)).toEqual(problems)
  })

  it('allows two addresses of a type, but no address twice', () => {
    const [first, second] = ['10.0.0.1', 'fd00::1'].map((address) => ({ type: 'InternalIP', address }))
    expect(problemsOfStatus(nodes, { status: { addresses: [first, second] } })).toEqual([])
    expect(problemsOfCreate(nodes, { status: { addresses: [first, second] } })).toEqual([])
    expect(problemsOfStatus(nodes, { status: { addresses: [first, second, first] } })).toEqual([
      'status.addresses[2]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
    ])
  })
})

describe('table of nodes', () => {
  it('has the columns of kubectl get', () => {
    expect(columnNames(nodes)).toEqual({
      shown: ['Name', 'Status', 'Roles', 'Age', 'Version'],
      wide: ['Internal-IP', 'External-IP', 'OS-Image', 'Kernel-Version', 'Container-Runtime'],
    })
  })

  const ready = (status: string): Draft => ({ conditions: [{ type: 'Ready', status }] })
  it.each<readonly [string, Draft]>([
    ['Ready', { status: ready('True') }],
    ['NotReady', { status: ready('False') }],
    ['NotReady', { status: ready('Unknown') }],
    ['Unknown', {}],
    ['Ready,SchedulingDisabled', { status: ready('True'), spec: { unschedulable: true } }],
  ])('shows %s for %j', (text, draft) => {
    expect(row(nodes, draft, 0)).toMatchObject({ Status: text })
  })

  it.each<readonly [string, Draft]>([
    ['<none>', {}],
    ['control-plane,worker', { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/control-plane': '' }],
    ['edge', { 'kubernetes.io/role': 'edge', 'node-role.kubernetes.io/': '' }],
  ])('shows the roles %s of %j', (text, labels) => {
    expect(row(nodes, { metadata: { name: 'x', labels } }, 0)).toMatchObject({ Roles: text })
  })

  it('shows what the node is and runs', () => {
    const nodeInfo = {
      kubeletVersion: 'v1.36.0',
      osImage: 'Debian',
      kernelVersion: '6.1',
      architecture: 'arm64',
      containerRuntimeVersion: 'process://1',
    }
    const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }]
    expect(row(nodes, { status: { nodeInfo, addresses } }, 0)).toMatchObject({
      Version: 'v1.36.0',
      'Internal-IP': '10.0.0.1',
      'External-IP': '<none>',
      'OS-Image': 'Debian',
      'Kernel-Version': '6.1 (arm64)',
      'Container-Runtime': 'process://1',
    })
  })

  it('says of a version of the kernel that is not known what it is for', () => {
    expect(row(nodes, { status: { nodeInfo: { architecture: 'amd64' } } }, 0)).toMatchObject({
      'Kernel-Version': '<unknown> (amd64)',
    })
  })

  it('shows what is not known', () => {
    expect(row(nodes, {}, 0)).toMatchObject({ Version: '', 'OS-Image': '<unknown>', 'Internal-IP': '<none>' })
  })
})

it.each([
  [{}, 'false'],
  [{ unschedulable: true }, 'true'],
])('can be filtered by whether it is cordoned: %j', (spec, value) => {
  expect(nodes.selectableFields['spec.unschedulable']?.(decoded(nodes, { spec }))).toBe(value)
})
