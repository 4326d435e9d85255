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
import { parseTime } from '../../../time.ts'
import { deployments } from './deployment.ts'
import type { Deployment } from './deployment-schema.ts'

beforeAll(loadStructForms)

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }
const spec = { selector: { matchLabels: { app: 'web' } }, template }
const valid = { spec }

describe('defaults of a deployment', () => {
  it('are a rolling update by a quarter, one pod, ten revisions and ten minutes', () => {
    expect(decoded(deployments, valid).spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      template: { spec: { restartPolicy: 'Always' } },
    })
  })

  it.each<readonly [string, Draft, Draft]>([
    [
      'a strategy that is said in part',
      { rollingUpdate: { maxSurge: 1 } },
      { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 1 } },
    ],
    ['Recreate, which has no steps', { type: 'Recreate' }, { type: 'Recreate' }],
  ])('complete %s', (_, strategy, expected) => {
    expect(decoded(deployments, { spec: { ...spec, strategy } }).spec.strategy).toEqual(expected)
  })

  it('give back what needs no change', () => {
    const complete = decoded(deployments, valid)
    expect(deployments.applyDefaults?.(complete)).toBe(complete)
  })
})

it('starts with an empty status, whatever the client says', () => {
  expect(created(deployments, { ...valid, status: { replicas: 7 } }).status).toEqual({})
})

describe('validation of a deployment', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['nothing wrong', {}, []],
    [
      'no selector',
      { selector: undefined },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'an empty selector',
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    ],
    [
      'a selector that the template does not match',
      { selector: { matchLabels: { app: 'db' } } },
      ['spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
    ],
    [
      'a selector with an unknown operator',
      { selector: { matchExpressions: [{ key: 'app', operator: 'Like' }] } },
      [
        'spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Like"}]}: invalid label selector',
      ],
    ],
    [
      'labels that are shown in their order',
      { selector: { matchLabels: { b: '-', a: 'x' } } },
      [
        `spec.selector.matchLabels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
        'spec.selector: Invalid value: {"matchLabels":{"a":"x","b":"-"}}: invalid label selector',
      ],
    ],
    [
      'negative numbers',
      { replicas: -1, minReadySeconds: -2, revisionHistoryLimit: -3, progressDeadlineSeconds: -4 },
      [
        'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        'spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0',
        'spec.revisionHistoryLimit: Invalid value: -3: must be greater than or equal to 0',
        'spec.progressDeadlineSeconds: Invalid value: -4: must be greater than or equal to 0',
        'spec.progressDeadlineSeconds: Invalid value: -4: must be greater than minReadySeconds',
      ],
    ],
    [
      'an unknown strategy',
      { strategy: { type: 'BlueGreen' } },
      [
        'spec.strategy: Unsupported value: {"Type":"BlueGreen","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
      ],
    ],
    [
      'steps of Recreate',
      { strategy: { type: 'Recreate', rollingUpdate: {} } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'a rollout that cannot move',
      { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: '0%' } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
    ],
    [
      'percentages that are none',
      { strategy: { rollingUpdate: { maxUnavailable: '101%', maxSurge: '1.5%' } } },
      [
        "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"1.5%\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      ],
    ],
    ['a surge of more than all', { strategy: { rollingUpdate: { maxSurge: '200%' } } }, []],
    [
      'pods that end',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
      ],
    ],
  ])('says of %s', (_, changes, problems) => {
    expect(problemsOfCreate(deployments, { spec: { ...spec, ...changes } })).toEqual(problems)
  })

  it('says that there is no spec at all', () => {
    expect(problemsOfCreate(deployments, {})).toEqual([
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ])
  })

  it('keeps the selector as it was', () => {
    const changed = {
      selector: { matchLabels: { app: 'db' } },
      template: { ...template, metadata: { labels: { app: 'db' } } },
    }
    expect(problemsOfUpdate(deployments, valid, { spec: { ...spec, ...changed } })).toEqual([
      'spec.selector: Invalid value: {"matchLabels":{"app":"db"}}: field is immutable',
    ])
  })

  it.each<readonly [Draft, readonly string[]]>([
    [{ replicas: 3, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 1, unavailableReplicas: 2 }, []],
    [
      { replicas: 1, updatedReplicas: 2 },
      ['status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas'],
    ],
    [
      { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
      ['status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas'],
    ],
    [
      { terminatingReplicas: -1 },
      ['status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0'],
    ],
  ])('says of the status %j', (status, problems) => {
    expect(problemsOfStatus(deployments, { ...valid, status })).toEqual(problems)
  })

  it('never counts collisions back', () => {
    const counted = (collisionCount: number): Deployment =>
      decoded(deployments, { ...valid, status: { collisionCount } })
    const errors = deployments.strategy.validateStatusUpdate?.(counted(1), counted(2)) ?? []
    expect(errors.map(({ message }) => message)).toEqual(['Invalid value: 1: cannot be decremented'])
  })
})

describe('warnings of a deployment', () => {
  it('tell of a name that pods cannot have as their host name', () => {
    const deployment = decoded(deployments, { metadata: { name: 'web.v1' }, ...valid })
    expect(deployments.strategy.warnings?.(deployment, undefined)).toEqual([
      'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]',
    ])
    expect(deployments.strategy.warnings?.(deployment, deployment)).toEqual([])
  })

  it('tell of the template when the desired state changes', () => {
    const doubled = {
      ...template.spec.containers[0],
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    }
    const draft = { spec: { ...spec, template: { ...template, spec: { containers: [doubled] } } } }
    const at = (generation: number) => decoded(deployments, { metadata: { name: 'web', generation }, ...draft })
    const text =
      'spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'
    expect(deployments.strategy.warnings?.(at(1), undefined)).toEqual([text])
    expect(deployments.strategy.warnings?.(at(2), at(1))).toEqual([text])
    expect(deployments.strategy.warnings?.(at(1), at(1))).toEqual([])
  })
})

it('is scaled by its replicas', () => {
  const deployment = decoded(deployments, { spec: { ...spec, replicas: 3 }, status: { replicas: 2 } })
  const { scale } = deployments
  expect([scale?.replicas(deployment), scale?.statusReplicas(deployment), scale?.selector(deployment)]).toEqual([
    3,
    2,
    'app=web',
  ])
  expect(scale?.withReplicas(deployment, 5)).toEqual({ ...deployment, spec: { ...deployment.spec, replicas: 5 } })
})

it('shows how far its pods are in a table', () => {
  expect(columnNames(deployments)).toEqual({
    shown: ['Name', 'Ready', 'Up-to-date', 'Available', 'Age'],
    wide: ['Containers', 'Images', 'Selector'],
  })
  const draft = {
    metadata: { name: 'web', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { ...spec, replicas: 3 },
    status: { replicas: 4, readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 },
  }
  expect(row(deployments, draft, parseTime('2026-01-01T00:03:20Z'))).toEqual({
    Name: 'web',
    Ready: '2/3',
    'Up-to-date': 1,
    Available: 2,
    Age: '3m20s',
    Containers: 'web',
    Images: 'nginx',
    Selector: 'app=web',
  })
})
