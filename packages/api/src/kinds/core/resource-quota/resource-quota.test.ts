import { describe, expect, it } from 'vitest'
import { problemsOfCreate, problemsOfStatus, problemsOfUpdate, row } from '../../../../test/requests.ts'
import { resourceQuotas } from './resource-quota.ts'

const hard = { pods: '10' }
const selecting = (...matchExpressions: readonly object[]) => ({ hard, scopeSelector: { matchExpressions } })
const expressions = 'spec.scopeSelector.matchExpressions'

describe('validation of a quota', () => {
  it.each<readonly [string, object, readonly string[]]>([
    [
      'a good one',
      {
        hard: {
          'requests.cpu': '1',
          'limits.memory': '1Gi',
          'count/jobs.batch': '3',
          'requests.hugepages-2Mi': '4Mi',
          'fast.storageclass.storage.k8s.io/requests.storage': '1Gi',
          'requests.example.com/gpu': '2',
        },
      },
      [],
    ],
    [
      'what cannot be counted',
      { hard: { cpus: '1' } },
      [
        'spec.hard[cpus]: Invalid value: "cpus": must be a standard resource type or fully qualified',
        'spec.hard[cpus]: Invalid value: "cpus": must be a standard resource for quota',
      ],
    ],
    [
      'what only volumes have',
      { hard: { storage: '1' } },
      ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota'],
    ],
    [
      'half a pod, and less than none',
      { hard: { pods: '500m', secrets: '-1' } },
      [
        'spec.hard[pods]: Invalid value: "500m": must be an integer',
        'spec.hard[secrets]: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
    ['a scope nobody knows', { hard, scopes: ['Some'] }, ['spec.scopes: Invalid value: ["Some"]: unsupported scope']],
    [
      'a scope of something else',
      { hard: { 'requests.cpu': '1', pods: '2' }, scopes: ['BestEffort'] },
      ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [
      'scopes of nothing',
      { hard, scopes: ['Terminating', 'NotTerminating'] },
      ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
    ],
    ['a class', selecting({ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }), []],
    [
      'no class',
      selecting({ scopeName: 'PriorityClass', operator: 'In' }),
      [
        `${expressions}.values: Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
      ],
    ],
    [
      'values of what has none',
      selecting(
        { scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] },
        { scopeName: 'PriorityClass', operator: 'Like' },
      ),
      [
        `${expressions}.values: Invalid value: ["a"]: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
        `${expressions}.operator: Invalid value: "Like": not a valid selector operator`,
      ],
    ],
    [
      'the value of a scope',
      selecting({ scopeName: 'BestEffort', operator: 'In', values: ['a'] }),
      [
        `${expressions}.operator: Invalid value: "In": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`,
      ],
    ],
  ])('%s', (_, spec, problems) => {
    expect(problemsOfCreate(resourceQuotas, { spec })).toEqual(problems)
  })

  it('is about the same objects for good', () => {
    const [before, after] = [{ spec: { hard, scopes: ['BestEffort'] } }, { spec: { hard } }]
    expect(problemsOfUpdate(resourceQuotas, before, after)).toEqual([
      'spec.scopes: Invalid value: null: field is immutable',
    ])
    expect(
      problemsOfUpdate(resourceQuotas, before, { spec: { hard: { pods: '11' }, scopes: ['BestEffort'] } }),
    ).toEqual([])
  })

  it('looks at what is used as well', () => {
    expect(problemsOfStatus(resourceQuotas, { status: { hard, used: { pods: '-1' } } })).toEqual([
      'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ])
  })
})

it('shows what is used, requests apart from limits', () => {
  const status = {
    hard: { pods: '10', 'limits.cpu': '4', 'requests.cpu': '2', 'count/jobs.batch': '1' },
    used: { pods: '3', 'limits.cpu': '500m' },
  }
  expect(row(resourceQuotas, { status }, 0)).toMatchObject({
    Request: 'count/jobs.batch: 0/1, pods: 3/10, requests.cpu: 0/2',
    Limit: 'limits.cpu: 500m/4',
  })
})

describe('warnings of a new quota', () => {
  const warned = (hard: Readonly<Record<string, string>>) => {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'a' }, spec: { hard } } as const
    return resourceQuotas.strategy.warnings?.(quota, undefined)
  }

  it.each<readonly [Readonly<Record<string, string>>, readonly string[]]>([
    [{ 'requests.cpu': '2', 'limits.cpu': '2' }, []],
    [{ 'requests.cpu': '2' }, []],
    [
      { 'requests.cpu': '3', cpu: '1', 'limits.cpu': '2' },
      ['ResourceQuota requests.cpu (3) should be less than limits.cpu (2)'],
    ],
    [{ memory: '2Gi', 'limits.memory': '1Gi' }, ['ResourceQuota memory (2Gi) should be less than limits.memory (1Gi)']],
    [{ storage: '2Gi', 'limits.storage': '1Gi' }, []],
  ])('of %j are %j', (hard, warnings) => {
    expect(warned(hard)).toEqual(warnings)
  })
})
