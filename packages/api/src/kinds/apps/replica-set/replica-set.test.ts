import { describe, expect, it } from 'vitest'
import {
  columnNames,
  created,
  type Draft,
  problemsOfCreate,
  problemsOfStatus,
  problemsOfUpdate,
  row,
} from '../../../../test/requests.ts'
import { replicaSets } from './replica-set.ts'

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }
const spec = { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'api'] }] }, template }

it('wants one pod unless it says otherwise, and has none at first', () => {
  const replicaSet = created(replicaSets, { spec, status: { replicas: 3 } })
  expect(replicaSet.spec).toMatchObject({ replicas: 1, template: { spec: { dnsPolicy: 'ClusterFirst' } } })
  expect(replicaSet.status).toEqual({ replicas: 0 })
})

describe('validation of a replica set', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['a selector of sets', {}, []],
    ['zero pods', { replicas: 0 }, []],
    [
      'negative numbers',
      { replicas: -1, minReadySeconds: -1 },
      [
        'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      'an empty selector',
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    ],
    [
      'no template',
      { template: undefined },
      [
        'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
        'spec.template.spec.containers: Required value',
      ],
    ],
    [
      'pods that end',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'OnFailure' } } },
      ['spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"'],
    ],
  ])('says of %s', (_, changes, problems) => {
    expect(problemsOfCreate(replicaSets, { spec: { ...spec, ...changes } })).toEqual(problems)
  })

  it('keeps the selector as it was', () => {
    const selector = { matchLabels: { app: 'web' } }
    expect(problemsOfUpdate(replicaSets, { spec }, { spec: { ...spec, selector } })).toEqual([
      'spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: field is immutable',
    ])
  })

  it('counts no more pods than there are', () => {
    const status = { replicas: 1, fullyLabeledReplicas: 2, terminatingReplicas: 4 }
    expect(problemsOfStatus(replicaSets, { spec, status })).toEqual([
      'status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas',
    ])
  })
})

it('shows its counts in a table, and is not selected by them', () => {
  expect(columnNames(replicaSets)).toEqual({
    shown: ['Name', 'Desired', 'Current', 'Ready', 'Age'],
    wide: ['Containers', 'Images', 'Selector'],
  })
  const draft = { spec: { ...spec, replicas: 3 }, status: { replicas: 2, readyReplicas: 1 } }
  expect(row(replicaSets, draft, 0)).toMatchObject({ Desired: 3, Current: 2, Ready: 1, Selector: 'app in (api,web)' })
  expect(replicaSets.selectableFields).toEqual({})
})
