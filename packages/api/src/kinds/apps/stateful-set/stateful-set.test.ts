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
import { validateObjectMeta } from '../../../object-meta-validation.ts'
import { statefulSets } from './stateful-set.ts'
import type { StatefulSet } from './stateful-set-schema.ts'

const container = { name: 'db', image: 'postgres:17', volumeMounts: [{ name: 'data', mountPath: '/data' }] }
const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [container] } }
const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}
const spec = { serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template, volumeClaimTemplates: [claim] }

describe('defaults of a stateful set', () => {
  it('are one pod after the other, and claims that are kept', () => {
    expect(decoded(statefulSets, { spec }).spec).toMatchObject({
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    })
  })

  it('make whole objects of the claims', () => {
    expect(decoded(statefulSets, { spec }).spec.volumeClaimTemplates).toEqual([
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: { ...claim.spec, volumeMode: 'Filesystem' },
        status: { phase: 'Pending' },
      },
    ])
  })

  it.each<readonly [Draft, Draft]>([
    [{ type: 'RollingUpdate' }, { type: 'RollingUpdate' }],
    [
      { type: 'RollingUpdate', rollingUpdate: {} },
      { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    ],
    [{ type: 'OnDelete' }, { type: 'OnDelete' }],
  ])('make of the strategy %j %j', (updateStrategy, expected) => {
    expect(decoded(statefulSets, { spec: { ...spec, updateStrategy } }).spec.updateStrategy).toEqual(expected)
  })

  it('give back what needs no change', () => {
    const complete = decoded(statefulSets, { spec })
    expect(statefulSets.applyDefaults?.(complete)).toBe(complete)
  })
})

describe('validation of a stateful set', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['a mount of a claim', {}, []],
    [
      'a mount of nothing',
      { volumeClaimTemplates: [] },
      ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'],
    ],
    [
      'an empty selector',
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for statefulset'],
    ],
    [
      'policies that there are not',
      { podManagementPolicy: 'Random', updateStrategy: { type: 'Recreate' } },
      [
        "spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'",
        'spec.updateStrategy: Invalid value: {"Type":"Recreate","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\'',
      ],
    ],
    [
      'steps of what is done by hand',
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      [
        'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
      ],
    ],
    [
      'steps of nothing',
      { updateStrategy: { rollingUpdate: { partition: -1 } } },
      ['spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'negative numbers',
      { replicas: -1, minReadySeconds: -2, ordinals: { start: -3 } },
      [
        'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        'spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0',
        'spec.ordinals.start: Invalid value: -3: must be greater than or equal to 0',
      ],
    ],
    [
      'a policy for claims that there is not',
      { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Keep' } },
      [
        'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": supported values: "Retain", "Delete"',
      ],
    ],
  ])('says of %s', (_, changes, problems) => {
    expect(problemsOfCreate(statefulSets, { spec: { ...spec, ...changes } })).toEqual(problems)
  })

  it('keeps how many pods may be missing only where it has been said before, and judges it then', () => {
    const saying = (maxUnavailable?: unknown): StatefulSet =>
      ({
        spec: { ...spec, updateStrategy: { rollingUpdate: { partition: 1, maxUnavailable } } },
      }) as unknown as StatefulSet
    const { prepareForCreate, prepareForUpdate } = statefulSets.strategy
    const keptOf = (of: StatefulSet | undefined) => of?.spec.updateStrategy?.rollingUpdate
    expect(keptOf(prepareForCreate?.(saying(2), 0))).toEqual({ partition: 1 })
    expect(keptOf(prepareForUpdate?.(saying(2), saying(), 0))).toEqual({ partition: 1 })
    expect(keptOf(prepareForUpdate?.(saying(2), saying(3), 0))).toEqual({ partition: 1, maxUnavailable: 2 })
    expect(problemsOfUpdate(statefulSets, saying(1) as unknown as Draft, saying('0%') as unknown as Draft)).toEqual([
      'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0%": cannot be 0',
    ])
  })

  it('changes nothing that a running pod depends on', () => {
    const update = (changes: Draft) => problemsOfUpdate(statefulSets, { spec }, { spec: { ...spec, ...changes } })
    expect(
      update({
        replicas: 3,
        minReadySeconds: 5,
        revisionHistoryLimit: 2,
        ordinals: { start: 1 },
        updateStrategy: { type: 'OnDelete' },
      }),
    ).toEqual([])
    const forbidden =
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    expect(update({ serviceName: 'other' })).toEqual([forbidden])
    expect(update({ podManagementPolicy: 'Parallel' })).toEqual([forbidden])
  })

  it('counts no more pods than there are', () => {
    expect(
      problemsOfStatus(statefulSets, { spec, status: { replicas: 1, currentReplicas: 2, availableReplicas: 1 } }),
    ).toEqual([
      'status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas',
    ])
  })
})

describe('a new stateful set', () => {
  it('does not look at names in its template, which pods have of their own', () => {
    const named = { ...template, spec: { ...template.spec, hostname: 'Not Valid', subdomain: 'Not Valid' } }
    expect(problemsOfCreate(statefulSets, { spec: { ...spec, template: named } })).toEqual([])
  })

  it('has a name, and a service, that hosts may have', () => {
    const problems = (name: string) => validateObjectMeta({ name, namespace: 'default' }, statefulSets)
    expect(problems('db')).toEqual([])
    expect(problems('db.example')).toMatchObject([{ field: 'metadata.name' }])
    expect(problemsOfCreate(statefulSets, { spec: { ...spec, serviceName: 'Not Valid' } })).toEqual([
      expect.stringContaining('spec.serviceName: Invalid value: "Not Valid": a lowercase RFC 1123 label'),
    ])
  })

  it('makes claims that are good', () => {
    const problems = (draft: Draft) =>
      problemsOfCreate(statefulSets, { spec: { ...spec, volumeClaimTemplates: [{ ...claim, ...draft }] } })
    expect(problems({ spec: {} })).toEqual([
      'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ])
    expect(problems({ metadata: {} })).toContain(
      'spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Required value',
    )
    expect(problems({ metadata: { name: 'Not Valid' } })).toContainEqual(
      expect.stringMatching(/^spec.template.spec.volumes\[0\].name: Invalid value: "Not Valid"/),
    )
  })
})

it('starts without pods, and warns of a history without end', () => {
  const statefulSet = created(statefulSets, { spec: { ...spec, revisionHistoryLimit: -1 }, status: { replicas: 2 } })
  expect(statefulSet.status).toEqual({ replicas: 0, availableReplicas: 0 })
  expect(statefulSets.strategy.warnings?.(statefulSet, undefined)).toEqual([
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
  ])
})

it('warns of claims for parts of bytes, each time it is written', () => {
  const resources = { requests: { storage: '1500m' }, limits: { storage: '2500m' } }
  const volumeClaimTemplates = [{ ...claim, spec: { ...claim.spec, resources } }]
  const statefulSet = created(statefulSets, { spec: { ...spec, volumeClaimTemplates } })
  const warning = (path: string, amount: string) =>
    `spec.volumeClaimTemplates[0].${path}[storage]: fractional byte value "${amount}" is invalid, must be an integer`
  const { warnings } = statefulSets.strategy
  expect(warnings?.(statefulSet, undefined)).toEqual([
    warning('resources.requests', '1500m'),
    warning('resources.limits', '2500m'),
  ])
  expect(warnings?.(statefulSet, statefulSet)).toEqual([
    warning('Spec.resources.requests', '1500m'),
    warning('Spec.resources.limits', '2500m'),
  ])
})

it('shows its pods in a table', () => {
  expect(columnNames(statefulSets)).toEqual({ shown: ['Name', 'Ready', 'Age'], wide: ['Containers', 'Images'] })
  expect(
    row(statefulSets, { spec: { ...spec, replicas: 3 }, status: { replicas: 2, readyReplicas: 1 } }, 0),
  ).toMatchObject({
    Ready: '1/3',
    Images: 'postgres:17',
  })
})

it('is told of claims that could not be made, but not of those it has had', () => {
  expect(problemsOfCreate(statefulSets, { spec: { ...spec, volumeClaimTemplates: [claim, claim] } })).toEqual([])
  const without = { spec: { ...spec, volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] } }
  expect(problemsOfCreate(statefulSets, without)).toEqual([
    'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
    'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
  ])
  expect(problemsOfUpdate(statefulSets, without, without)).toEqual([])
})
