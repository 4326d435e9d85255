import { describe, expect, it } from 'vitest'
import {
  created,
  decoded,
  problemsOfCreate,
  problemsOfStatus,
  problemsOfUpdate,
  row,
} from '../../../../test/requests.ts'
import { persistentVolumeClaims } from './persistent-volume-claim.ts'

const asking = (storage: string) => ({ resources: { requests: { storage } } })
const withSpec = (spec: object, status?: object) => ({
  spec: { accessModes: ['ReadWriteOnce'], ...asking('1Gi'), ...spec },
  ...(status === undefined ? {} : { status }),
})
const bound = { phase: 'Bound', capacity: { storage: '1Gi' } }
const classAnnotation = 'volume.beta.kubernetes.io/storage-class'
const annotated = (className: string) => ({
  metadata: { name: 'x', annotations: { [classAnnotation]: className } },
  ...withSpec({}),
})
const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' }

describe('a claim', () => {
  it('begins with nothing, and wants a file system', () => {
    expect(decoded(persistentVolumeClaims, withSpec({})).spec?.volumeMode).toBe('Filesystem')
    expect(created(persistentVolumeClaims, withSpec({}, bound)).status).toEqual({ phase: 'Pending' })
  })

  it('says in both ways what it is filled from', () => {
    expect(created(persistentVolumeClaims, withSpec({ dataSource: snapshot })).spec?.dataSourceRef).toEqual(snapshot)
    expect(created(persistentVolumeClaims, withSpec({ dataSourceRef: snapshot })).spec?.dataSource).toEqual(snapshot)
    const unknown = { apiGroup: 'example.com', kind: 'Tape', name: 't' }
    expect(created(persistentVolumeClaims, withSpec({ dataSource: unknown })).spec?.dataSource).toBeUndefined()
  })

  it('takes no source of another namespace, as long as the feature for that is off', () => {
    const foreign = { ...snapshot, namespace: 'other' }
    const { spec } = created(persistentVolumeClaims, withSpec({ dataSourceRef: foreign }))
    expect(spec).not.toHaveProperty('dataSourceRef')
    expect(spec).not.toHaveProperty('dataSource')
    const given = withSpec({ dataSourceRef: foreign })
    expect(problemsOfUpdate(persistentVolumeClaims, withSpec({}), given)).toEqual([])
    expect(problemsOfUpdate(persistentVolumeClaims, given, given)).toEqual([])
  })

  it('keeps its source where an update says it in one way', () => {
    const both = withSpec({ dataSource: snapshot, dataSourceRef: snapshot })
    expect(problemsOfUpdate(persistentVolumeClaims, both, withSpec({ dataSource: snapshot }))).toEqual([])
    expect(problemsOfUpdate(persistentVolumeClaims, both, withSpec({ dataSourceRef: snapshot }))).toEqual([])
    expect(problemsOfUpdate(persistentVolumeClaims, both, withSpec({}))).toHaveLength(1)
  })

  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', withSpec({}), []],
    [
      'for nothing',
      {},
      [
        'spec.accessModes: Required value: at least 1 access mode is required',
        'spec.resources[storage]: Required value',
      ],
    ],
    ['for no room', withSpec(asking('0')), ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
    [
      'of a kind nobody knows',
      withSpec({ volumeMode: 'Tape', accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'] }),
      [
        'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
        'spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
      ],
    ],
    [
      'from two sources',
      withSpec({ dataSource: { kind: 'PersistentVolumeClaim', name: 'a' }, dataSourceRef: snapshot }),
      ['spec: Invalid value: {}: must match dataSourceRef'],
    ],
    [
      'from no source',
      withSpec({ dataSourceRef: { kind: 'Pod', name: 'a' } }),
      [
        'spec.dataSource: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
        'spec.dataSourceRef: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
      ],
    ],
  ])('%s', (_, draft, problems) => {
    expect(problemsOfCreate(persistentVolumeClaims, { ...draft })).toEqual(problems)
  })

  const spec =
    'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
  it.each<readonly [string, object, object, readonly string[]]>([
    ['is bound once', withSpec({}), withSpec({ volumeName: 'pv' }), []],
    [
      'is not bound twice',
      withSpec({ volumeName: 'pv' }),
      withSpec({ volumeName: 'other' }),
      [`${spec}\n- volumeName: "pv"\n+ volumeName: "other"`],
    ],
    ['gets a class where it had none', withSpec({}), withSpec({ storageClassName: 'fast' }), []],
    [
      'keeps its class',
      withSpec({ storageClassName: 'fast' }),
      withSpec({ storageClassName: 'slow' }),
      [`${spec}\n- storageClassName: "fast"\n+ storageClassName: "slow"`],
    ],
    ['may grow once it is bound', withSpec({}, bound), withSpec(asking('2Gi'), bound), []],
    [
      'does not grow before',
      withSpec({}),
      withSpec(asking('2Gi')),
      [`${spec}\n- resources.requests.storage: "1Gi"\n+ resources.requests.storage: "2Gi"`],
    ],
    ['may take back a wish', withSpec(asking('3Gi'), bound), withSpec(asking('2Gi'), bound), []],
    [
      'does not shrink',
      withSpec(asking('3Gi'), bound),
      withSpec(asking('1Gi'), bound),
      ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
    ],
    [
      'may change its attributes',
      withSpec({ volumeAttributesClassName: 'a' }, bound),
      withSpec({ volumeAttributesClassName: 'b' }, bound),
      [],
    ],
    [
      'may take back a wish for attributes that it has not got',
      withSpec({ volumeAttributesClassName: 'a' }, bound),
      withSpec({}, bound),
      [],
    ],
    [
      'does not drop its attributes',
      withSpec({ volumeAttributesClassName: 'a' }, { ...bound, currentVolumeAttributesClassName: 'a' }),
      withSpec({}, { ...bound, currentVolumeAttributesClassName: 'a' }),
      [
        'spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil',
      ],
    ],
    [
      'does not empty its attributes',
      withSpec({ volumeAttributesClassName: 'a' }, { ...bound, currentVolumeAttributesClassName: 'a' }),
      withSpec({ volumeAttributesClassName: '' }, { ...bound, currentVolumeAttributesClassName: 'a' }),
      [
        'spec.volumeAttributesClassName: Forbidden: update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil',
      ],
    ],
    [
      'has no other attributes before it is bound',
      withSpec({ volumeAttributesClassName: 'a' }),
      withSpec({ volumeAttributesClassName: 'b' }),
      [`${spec}\n- volumeAttributesClassName: "a"\n+ volumeAttributesClassName: "b"`],
    ],
    [
      'may move its class from the annotation to the field',
      annotated('fast'),
      withSpec({ storageClassName: 'fast' }),
      [],
    ],
    [
      'may have its class in both',
      annotated('fast'),
      { ...annotated('fast'), ...withSpec({ storageClassName: 'fast' }) },
      [],
    ],
    [
      'has no other class in the annotation than in the field',
      annotated('fast'),
      { ...annotated('slow'), ...withSpec({ storageClassName: 'fast' }) },
      ['metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "slow": field is immutable'],
    ],
    [
      'moves no other class there',
      annotated('fast'),
      withSpec({ storageClassName: 'slow' }),
      [
        'metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "": field is immutable',
        `${spec}\n+ storageClassName: "slow"`,
      ],
    ],
  ])('%s', (_, before, after, problems) => {
    expect(problemsOfUpdate(persistentVolumeClaims, { ...before }, { ...after })).toEqual(problems)
  })

  it.each<readonly [object, readonly string[]]>([
    [{ allocatedResources: { storage: '2Gi', 'example.com/x': '1' } }, []],
    [{ allocatedResourceStatuses: { storage: 'NodeResizePending' } }, []],
    [
      { allocatedResources: { cpu: '1', storage: '-1' } },
      [
        'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
        'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
      ],
    ],
    [
      { allocatedResourceStatuses: { cpu: 'NodeResizePending', storage: 'Growing' } },
      [
        'status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage"',
        'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
      ],
    ],
  ])('says of the status %j', (status, problems) => {
    expect(problemsOfStatus(persistentVolumeClaims, withSpec({}, status))).toEqual(problems)
  })

  it('has not got less than nothing', () => {
    expect(problemsOfStatus(persistentVolumeClaims, withSpec({}, { capacity: { storage: '-500m' } }))).toEqual([
      'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    ])
  })

  it('is shown with what it has got', () => {
    const status = { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] }
    const draft = withSpec({ volumeName: 'pv', storageClassName: 'fast' }, status)
    expect(row(persistentVolumeClaims, draft, 0)).toMatchObject({
      Status: 'Bound',
      Volume: 'pv',
      Capacity: '2Gi',
      'Access Modes': 'RWO',
      StorageClass: 'fast',
      VolumeMode: 'Filesystem',
    })
    expect(row(persistentVolumeClaims, withSpec({}), 0)).toMatchObject({
      Status: 'Pending',
      Capacity: '',
      'Access Modes': '',
    })
  })
})
