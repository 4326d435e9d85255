import { beforeAll, describe, expect, it } from 'vitest'
import {
  created,
  decoded,
  problemsOfCreate,
  problemsOfStatus,
  problemsOfUpdate,
  row,
  warningsOf,
} from '../../../test/requests.ts'
import { loadStructForms } from '../../internal-structs/struct-value.ts'
import { csiDrivers } from './csi-driver.ts'
import { csiNodes } from './csi-node.ts'
import { csiStorageCapacities } from './csi-storage-capacity.ts'
import { volumeAttachments } from './volume-attachment.ts'
import { volumeAttributesClasses } from './volume-attributes-class.ts'

beforeAll(loadStructForms)

describe('a CSI driver', () => {
  it('is taken to be an ordinary one', () => {
    expect(decoded(csiDrivers, {}).spec).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ['Persistent'],
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
    })
  })

  it('is refused where it makes no sense', () => {
    const spec = {
      fsGroupPolicy: 'All',
      volumeLifecycleModes: ['Forever'],
      nodeAllocatableUpdatePeriodSeconds: 9,
      tokenRequests: [
        { audience: 'a', expirationSeconds: 599 },
        { audience: 'a' },
        { audience: 'b', expirationSeconds: 2 ** 33 },
      ],
    }
    expect(problemsOfCreate(csiDrivers, { spec })).toEqual([
      'spec.fsGroupPolicy: Unsupported value: "All": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
      'spec.tokenRequests[2].expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds',
      'spec.volumeLifecycleModes: Unsupported value: "Forever": supported values: "Persistent", "Ephemeral"',
      'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
    ])
  })

  it('asks for tokens where it wants them as secrets', () => {
    const spec = { serviceAccountTokenInSecrets: true }
    expect(problemsOfCreate(csiDrivers, { spec })).toEqual([
      'spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    ])
    expect(problemsOfCreate(csiDrivers, { spec: { ...spec, tokenRequests: [{ audience: 'a' }] } })).toEqual([])
  })

  it('should get its tokens as secrets, and whoever asks for other ones is told so', () => {
    const asking = { tokenRequests: [{ audience: 'a' }] }
    const warning = expect.stringMatching(
      /^spec\.serviceAccountTokenInSecrets is unset; if supported by this CSI driver/,
    )
    expect(warningsOf(csiDrivers, { spec: asking })).toEqual([warning])
    expect(warningsOf(csiDrivers, { spec: asking }, {})).toEqual([warning])
    expect(warningsOf(csiDrivers, { spec: { ...asking, podInfoOnMount: true } }, { spec: asking })).toEqual([])
    expect(warningsOf(csiDrivers, { spec: { ...asking, serviceAccountTokenInSecrets: false } })).toEqual([])
    expect(warningsOf(csiDrivers, {}, { spec: asking })).toEqual([])
  })

  it('attaches its volumes, or does not, for good', () => {
    expect(problemsOfUpdate(csiDrivers, {}, { spec: { attachRequired: false } })).toEqual([
      'spec.attachedRequired: Invalid value: false: field is immutable',
    ])
    expect(problemsOfUpdate(csiDrivers, {}, { spec: { podInfoOnMount: true } })).toEqual([])
  })

  it('is shown with what it needs', () => {
    const spec = { tokenRequests: [{ audience: 'a' }, { audience: 'b' }], volumeLifecycleModes: ['Ephemeral'] }
    expect(row(csiDrivers, { spec }, 0)).toMatchObject({
      AttachRequired: true,
      TokenRequests: 'a,b',
      Modes: 'Ephemeral',
    })
    expect(row(csiDrivers, {}, 0)).toMatchObject({ TokenRequests: '<unset>' })
    expect(row(csiDrivers, { spec: { tokenRequests: [{ audience: '' }] } }, 0)).toMatchObject({ TokenRequests: '' })
  })
})

describe('the drivers of a node', () => {
  const driver = { name: 'example.com', nodeID: 'n1', topologyKeys: ['zone'] }
  const withDrivers = (...drivers: readonly object[]) => ({ spec: { drivers } })

  it('are there once, and know the node', () => {
    const drivers = withDrivers(driver, { name: 'example.com', nodeID: 'x'.repeat(257) }, { topologyKeys: ['a', 'a'] })
    expect(problemsOfCreate(csiNodes, drivers)).toEqual([
      expect.stringContaining('spec.drivers[1].nodeID: Invalid value: "xxx'),
      'spec.drivers[1].name: Duplicate value: "example.com"',
      'spec.drivers[2].name: Required value',
      'spec.drivers[2].nodeID: Required value',
      'spec.drivers[2]: Duplicate value: "a"',
    ])
  })

  it('know the node by a name of 256 bytes', () => {
    const called = (nodeID: string): readonly string[] => problemsOfCreate(csiNodes, withDrivers({ ...driver, nodeID }))
    expect(called('é'.repeat(128))).toEqual([])
    expect(called('é'.repeat(129))).toEqual([expect.stringContaining('must be 256 characters or less')])
  })

  it('may only change how many volumes fit, unless they go and come back', () => {
    const grown = { ...driver, allocatable: { count: 5 } }
    expect(problemsOfUpdate(csiNodes, withDrivers(driver), withDrivers(grown))).toEqual([])
    expect(problemsOfUpdate(csiNodes, withDrivers(driver), withDrivers())).toEqual([])
    expect(problemsOfUpdate(csiNodes, withDrivers(driver), withDrivers({ ...driver, nodeID: 'n2' }))).toEqual([
      'spec.drivers: Invalid value: {"Name":"example.com","NodeID":"n2","TopologyKeys":["zone"],"Allocatable":null}: field is immutable',
    ])
    expect(row(csiNodes, withDrivers(driver), 0)).toMatchObject({ Drivers: 1 })
  })
})

describe('the capacity of a storage class', () => {
  const capacity = { storageClassName: 'fast', capacity: '10Gi', nodeTopology: { matchLabels: { zone: 'a' } } }

  it('is not negative, and about one class in one place', () => {
    expect(problemsOfCreate(csiStorageCapacities, { ...capacity, capacity: '-1', maximumVolumeSize: '-2' })).toEqual([
      'capacity: Invalid value: "-1": must be greater than or equal to 0',
    ])
    expect(problemsOfUpdate(csiStorageCapacities, capacity, { storageClassName: 'slow' })).toEqual([
      'nodeTopology: Invalid value: null: field is immutable',
      'storageClassName: Invalid value: "slow": field is immutable',
    ])
    expect(row(csiStorageCapacities, capacity, 0)).toEqual({ Name: 'x', 'Created At': '' })
  })
})

it('is warned where the place of a capacity is told by labels out of use', () => {
  const nodeTopology = {
    matchLabels: { 'failure-domain.beta.kubernetes.io/zone': 'a', 'topology.kubernetes.io/zone': 'a' },
    matchExpressions: [
      { key: 'kubernetes.io/arch', operator: 'Exists' },
      { key: 'beta.kubernetes.io/arch', operator: 'In', values: ['amd64'] },
    ],
  }
  const { strategy } = csiStorageCapacities
  const warnings = (draft: object) => strategy.warnings?.(created(csiStorageCapacities, { ...draft }), undefined)
  expect(warnings({ storageClassName: 'fast' })).toEqual([])
  expect(warnings({ storageClassName: 'fast', nodeTopology })).toEqual([
    'nodeTopology.matchExpressions[1].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
    'nodeTopology.matchLabels.failure-domain.beta.kubernetes.io/zone: deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ])
})

describe('a volume attachment', () => {
  const attachment = (source: object) => ({ spec: { attacher: 'example.com', nodeName: 'n1', source } })

  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', { persistentVolumeName: 'pv' }, []],
    [
      'no name',
      { persistentVolumeName: '' },
      [
        'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
        expect.stringContaining('spec.source.persistentVolumeName: Invalid value: "": a lowercase RFC 1123 subdomain'),
      ],
    ],
    [
      'nothing',
      {},
      ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
    ],
    [
      'a volume of its own that is none',
      { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, capacity: { storage: '1' } } },
      [
        'spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes',
        'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
      ],
    ],
    [
      'a volume of its own with what only others have',
      {
        inlineVolumeSpec: {
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'example.com', volumeHandle: 'h' },
          persistentVolumeReclaimPolicy: 'Odd',
          nodeAffinity: {},
          storageClassName: 'A b',
          volumeMode: 'Odd',
          volumeAttributesClassName: 'A b',
        },
      },
      [
        'spec.source.inlineVolumeSpec.nodeAffinity: Forbidden: may not be specified in the context of inline volumes',
        'spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes',
        'spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes',
        'spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes',
      ],
    ],
    [
      'a volume of its own that says no more than it must',
      { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'example.com', volumeHandle: 'h' } } },
      [],
    ],
  ])('%s', (_, source, problems) => {
    expect(problemsOfCreate(volumeAttachments, attachment(source))).toEqual(problems)
  })

  it('begins unattached, and stays what it is', () => {
    const draft = attachment({ persistentVolumeName: 'pv' })
    expect(created(volumeAttachments, { ...draft, status: { attached: true } }).status).toEqual({ attached: false })
    expect(problemsOfUpdate(volumeAttachments, draft, attachment({ persistentVolumeName: 'other' }))).toEqual([
      expect.stringContaining('field is immutable'),
    ])
    expect(row(volumeAttachments, draft, 0)).toMatchObject({
      Attacher: 'example.com',
      PV: 'pv',
      Node: 'n1',
      Attached: false,
    })
  })

  it.each<readonly [string, object, readonly string[]]>([
    ['in 1024 bytes', { message: 'é'.repeat(512), errorCode: 13 }, []],
    ['in too many', { message: 'x'.repeat(1025) }, ['message: Too long: may not be more than 262144 bytes']],
    ['in letters of two bytes', { message: 'é'.repeat(513) }, ['message: Too long: may not be more than 262144 bytes']],
    [
      'with a code below zero',
      { errorCode: -1 },
      ['errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
    ],
  ])('says in few words what went wrong: %s', (_, error, wanted) => {
    const status = { attachError: error, detachError: error }
    expect(problemsOfStatus(volumeAttachments, { ...attachment({}), status })).toEqual(
      ['attachError', 'detachError'].flatMap((field) => wanted.map((problem) => `status.${field}.${problem}`)),
    )
  })
})

describe('a class of volume attributes', () => {
  it('has attributes, for good', () => {
    expect(problemsOfCreate(volumeAttributesClasses, { driverName: 'example.com' })).toEqual([
      'parameters: Required value: must contain at least one key/value pair',
    ])
    const [before, after] = [{ a: '1' }, { a: '2' }]
    const driverName = 'example.com'
    expect(
      problemsOfUpdate(volumeAttributesClasses, { driverName, parameters: before }, { driverName, parameters: after }),
    ).toEqual(['parameters: Forbidden: updates to parameters are forbidden.'])
  })

  it('has a driver with a name like a label, capitals and all', () => {
    const problems = (driverName: string) =>
      problemsOfCreate(volumeAttributesClasses, { driverName, parameters: { a: '1' } })
    expect(problems('Example.com/Driver_1')).toEqual([])
    expect(problems('a b')).toEqual([expect.stringContaining('driverName: Invalid value: "a b": name part must')])
  })
})
