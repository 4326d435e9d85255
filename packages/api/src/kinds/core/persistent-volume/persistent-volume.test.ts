import { describe, expect, it } from 'vitest'
import { columnNames, created, decoded, problemsOfCreate, problemsOfUpdate, row } from '../../../../test/requests.ts'
import { persistentVolumes } from './persistent-volume.ts'

const affinity = {
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n'] }] }],
  },
}
const withSpec = (spec: object) => ({
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' }, ...spec },
})
const withSource = (source: object) => withSpec({ hostPath: undefined, ...source })

describe('a persistent volume', () => {
  it('is kept when its claim is gone, and has a file system', () => {
    expect(decoded(persistentVolumes, withSpec({})).spec).toMatchObject({
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
      hostPath: { path: '/data', type: '' },
    })
    expect(created(persistentVolumes, { ...withSpec({}), status: { phase: 'Bound' } }).status).toEqual({
      phase: 'Pending',
      lastPhaseTransitionTime: '1970-01-01T00:00:00Z',
    })
  })

  const [then, later] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z']
  it.each([
    ['is kept where the phase stays', { phase: 'Bound' }, then],
    ['may be corrected', { phase: 'Bound', lastPhaseTransitionTime: later }, later],
    ['is now where another phase is all that is said', { phase: 'Released' }, '2026-01-02T00:00:00Z'],
    [
      'is now where the old one comes with another phase',
      { phase: 'Released', lastPhaseTransitionTime: then },
      '2026-01-02T00:00:00Z',
    ],
    ['may come with another phase', { phase: 'Released', lastPhaseTransitionTime: later }, later],
  ])('knows when its phase changed: that %s', (_, status, expected) => {
    const withStatus = (each: object) => decoded(persistentVolumes, { ...withSpec({}), status: each })
    const old = withStatus({ phase: 'Bound', lastPhaseTransitionTime: then })
    const nowMs = 1_767_312_000_000
    const after = persistentVolumes.strategy.prepareForStatusUpdate?.(withStatus(status), old, nowMs)
    expect(after?.status).toEqual({ ...status, lastPhaseTransitionTime: expected })
  })

  it.each<readonly [string, object, readonly string[]]>([
    [
      'attributes without a name',
      withSpec({ volumeAttributesClassName: '' }),
      [
        'spec.volumeAttributesClassName: Required value: an empty string is disallowed',
        'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
      ],
    ],
    ['a good one', withSpec({}), []],
    ['a local one', withSource({ local: { path: '/disk' }, nodeAffinity: affinity }), []],
    [
      'nothing',
      {},
      [
        'spec.accessModes: Required value',
        'spec.capacity: Required value',
        'spec.capacity: Unsupported value: null: supported values: "storage"',
        'spec: Required value: must specify a volume type',
      ],
    ],
    [
      'two volumes',
      withSpec({ nfs: { server: 's' } }),
      ['spec.nfs: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'one beside a flexible one, which upstream looks at by itself',
      withSpec({ flexVolume: {} }),
      ['spec.flexVolume.driver: Required value'],
    ],
    [
      'a local one beside another',
      withSpec({ local: { path: '/x' } }),
      ['spec.local: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'no room',
      withSpec({ capacity: { storage: '0' } }),
      ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      'less than no room',
      withSpec({ capacity: { storage: '-2Gi' } }),
      [
        'spec.capacity[storage]: Invalid value: -2147483648: must be a valid resource quantity',
        'spec.capacity[storage]: Invalid value: "-2Gi": must be greater than zero',
      ],
    ],
    [
      'ways nobody knows',
      withSpec({ accessModes: ['Often'], persistentVolumeReclaimPolicy: 'Burn', volumeMode: 'Tape' }),
      [
        'spec.accessModes: Unsupported value: "Often": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
        'spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"',
        'spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
      ],
    ],
    [
      'for one pod and for many',
      withSpec({ accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] }),
      ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    [
      'a local one of no node',
      withSource({ local: { path: '/a/../b' } }),
      [
        'spec.local.path: Invalid value: "/a/../b": must not contain \'..\'',
        'spec.nodeAffinity: Required value: Local volume requires node affinity',
      ],
    ],
    [
      'affinity to nothing',
      withSpec({ nodeAffinity: {} }),
      ['spec.nodeAffinity.required: Required value: must specify required node constraints'],
    ],
    [
      'a root that is wiped',
      withSpec({ hostPath: { path: '/x/..' }, persistentVolumeReclaimPolicy: 'Recycle' }),
      [
        'spec.hostPath.path: Invalid value: "/x/..": must not contain \'..\'',
        "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
      ],
    ],
    [
      'a secret without a namespace',
      withSource({ csi: { driver: 'd', volumeHandle: 'h', nodePublishSecretRef: { name: 's' } } }),
      ['spec.csi.nodePublishSecretRef.namespace: Required value'],
    ],
    [
      'another secret without one',
      withSource({ cinder: { volumeID: 'v', secretRef: { name: 's' } } }),
      ['spec.cinder.secretRef.namespace: Required value'],
    ],
    [
      'a name and a portal that are long together',
      withSource({
        iscsi: {
          targetPortal: 'p'.repeat(64),
          iqn: 'iqn.2001-04.com.example:x',
          lun: 0,
          initiatorName: 'iqn.2001-04.com.example:y',
        },
      }),
      [
        expect.stringContaining(
          'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
        ) as never,
      ],
    ],
    [
      'a ScaleIO volume without a secret, which upstream takes',
      withSource({ scaleIO: { gateway: 'g', system: 's', volumeName: 'v' } }),
      [],
    ],
    [
      'a secret of an iSCSI disk without a name',
      withSource({ iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:x', lun: 0, secretRef: {} } }),
      ['spec.iscsi.secretRef.name: Required value'],
    ],
    [
      'an iSCSI disk of no form',
      withSource({ iscsi: { targetPortal: 'p', iqn: 'disk', lun: 0 } }),
      ['spec.iscsi.iqn: Invalid value: "disk": must be valid format'],
    ],
    [
      'a secret whose name is none',
      withSource({ csi: { driver: 'd', volumeHandle: 'h', nodePublishSecretRef: { name: 'A', namespace: 'b' } } }),
      [expect.stringContaining('spec.csi.nodePublishSecretRef.name: Invalid value: "A": a lowercase RFC 1123')],
    ],
  ])('%s', (_, draft, problems) => {
    expect(problemsOfCreate(persistentVolumes, { ...draft })).toEqual(problems)
  })

  it('stays where it is', () => {
    expect(problemsOfUpdate(persistentVolumes, withSpec({}), withSpec({ hostPath: { path: '/other' } }))).toEqual([
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n- hostPath.path: "/data"\n+ hostPath.path: "/other"',
    ])
    expect(problemsOfUpdate(persistentVolumes, withSpec({}), withSpec({ volumeMode: 'Block' }))).toEqual([
      'volumeMode: Invalid value: "Block": field is immutable',
    ])
    expect(problemsOfUpdate(persistentVolumes, withSpec({}), withSpec({ nodeAffinity: affinity }))).toEqual([])
    expect(problemsOfUpdate(persistentVolumes, withSpec({ nodeAffinity: affinity }), withSpec({}))).toEqual([
      'nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA',
    ])
    expect(problemsOfUpdate(persistentVolumes, withSpec({}), withSpec({ capacity: { storage: '2Gi' } }))).toEqual([])
  })

  it('may follow labels of nodes to their stable names, and no others', () => {
    const near = (key: string) => {
      const required = { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['a'] }] }] }
      return withSpec({ nodeAffinity: { required } })
    }
    const beta = near('failure-domain.beta.kubernetes.io/zone')
    expect(problemsOfUpdate(persistentVolumes, beta, near('topology.kubernetes.io/zone'))).toEqual([])
    expect(problemsOfUpdate(persistentVolumes, near('topology.kubernetes.io/zone'), beta)).toHaveLength(1)
    expect(problemsOfUpdate(persistentVolumes, beta, near('topology.kubernetes.io/region'))).toHaveLength(1)
  })

  it('may be told later how it is enlarged', () => {
    const csi = { driver: 'd', volumeHandle: 'h' }
    const secret = { name: 's', namespace: 'n' }
    const enlarged = withSource({ csi: { ...csi, controllerExpandSecretRef: secret } })
    expect(problemsOfUpdate(persistentVolumes, withSource({ csi }), enlarged)).toEqual([])
    expect(problemsOfUpdate(persistentVolumes, enlarged, withSource({ csi }))).toHaveLength(1)
  })

  it('is shown with its claim', () => {
    expect(columnNames(persistentVolumes)).toEqual({
      shown: [
        'Name',
        'Capacity',
        'Access Modes',
        'Reclaim Policy',
        'Status',
        'Claim',
        'StorageClass',
        'VolumeAttributesClass',
        'Reason',
        'Age',
      ],
      wide: ['VolumeMode'],
    })
    const draft = withSpec({
      accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
      claimRef: { namespace: 'web', name: 'data' },
      storageClassName: 'fast',
    })
    expect(row(persistentVolumes, { ...draft, status: { phase: 'Bound' } }, 0)).toMatchObject({
      Capacity: '1Gi',
      'Access Modes': 'RWO,RWX',
      'Reclaim Policy': 'Retain',
      Status: 'Bound',
      Claim: 'web/data',
      StorageClass: 'fast',
      VolumeAttributesClass: '<unset>',
    })
    const metadata = { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' }
    expect(row(persistentVolumes, { ...draft, metadata }, 0)).toMatchObject({ Status: 'Terminating' })
  })
})
