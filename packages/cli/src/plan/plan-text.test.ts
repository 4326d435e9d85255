import type { ObjectName, PlanReport, ReportedEvent } from '@coracle/simulator'
import { describe, expect, it } from 'vitest'
import { availabilityBar } from './bar.ts'
import { gatherEvents } from './gather-events.ts'
import { planText, rowsMax } from './plan-text.ts'

const deployment: ObjectName = { kind: 'Deployment', namespace: 'shop', name: 'web' }
const replicaSet: ObjectName = { kind: 'ReplicaSet', namespace: 'shop', name: 'web-1' }
const pod = (name: string): Pick<ReportedEvent, 'object' | 'controller' | 'workload'> => ({
  object: { kind: 'Pod', namespace: 'shop', name },
  controller: replicaSet,
  workload: deployment,
})

const plan: PlanReport = {
  apiVersion: 'plan.coracle.dev/v1',
  kind: 'Plan',
  verdict: 'safe',
  durationSeconds: 4,
  problems: [],
  availability: [],
  timeline: [],
  underWay: { objects: [], timeline: [] },
  assumptions: { seed: 1, startDelaySeconds: 2, runSeconds: 30, failRate: 0, steadyLoad: [], contestedQuotas: [] },
  copy: {
    revision: '7',
    takenAt: '2026-01-01T00:00:00Z',
    objects: 9,
    gaps: [],
    later: [],
    unknownKinds: [],
    droppedFields: [],
    refusedObjects: [],
    notAsked: [],
  },
}

const textOf = (more: Partial<PlanReport>, coloured = false) =>
  planText({ ...plan, ...more }, { line: 'coracle apply -f web.yaml', output: '', coloured })

describe('gathering what happens', () => {
  it('tells of many pods of one owner once a second, with their nodes', () => {
    const groups = gatherEvents([
      { at: 0.1, type: 'created', ...pod('a') },
      { at: 0.2, type: 'scheduled', node: 'n2', ...pod('a') },
      { at: 0.3, type: 'created', ...pod('b') },
      { at: 0.4, type: 'scheduled', node: 'n1', ...pod('b') },
      { at: 2, type: 'ready', node: 'n1', ...pod('b') },
    ])
    expect(groups.map(({ what, count, nodes, owner }) => [what, count, nodes, owner?.name])).toEqual([
      ['created', 2, ['n2', 'n1'], 'web-1'],
      ['ready', 1, ['n1'], 'web-1'],
    ])
  })

  it('tells apart the pods of a ReplicaSet and the ReplicaSet', () => {
    const groups = gatherEvents([
      { at: 0, type: 'removed', ...pod('a') },
      { at: 0, type: 'removed', object: replicaSet, controller: deployment, workload: deployment },
    ])
    expect(groups.map(({ object, count }) => [object.name, count])).toEqual([
      ['a', 1],
      ['web-1', 1],
    ])
  })

  it('leaves out what ReplicaSets say of themselves: their Deployment says it', () => {
    const own = { object: replicaSet, controller: deployment, workload: deployment }
    expect(gatherEvents([{ at: 0, type: 'complete', to: 3, ...own }])).toEqual([])
  })
})

describe('the picture of availability', () => {
  it.each([
    ['all the time', [[0, 4]], '████'],
    [
      'half of them from the middle on',
      [
        [0, 4],
        [2, 2],
      ],
      '███▄',
    ],
    [
      'nothing at once',
      [
        [0, 4],
        [0, 0],
      ],
      '█···',
    ],
    [
      'a moment without any',
      [
        [0, 4],
        [1.2, 0],
        [1.3, 4],
      ],
      '██·█',
    ],
    ['none from the beginning', [[0, 0]], '····'],
    [
      'few of many',
      [
        [0, 100],
        [1, 1],
      ],
      '██▁▁',
    ],
  ] as const)('%s', (_, samples, expected) => {
    expect(
      availabilityBar(
        samples.map(([at, ready]) => ({ at, ready })),
        3,
        4,
      ),
    ).toBe(expected)
  })
})

describe('a plan for people', () => {
  it('lets nothing that others have written drive the terminal', () => {
    const message = 'quota \u001b[2J'
    const problems = [{ severity: 'error', type: 'refused', at: 0, message }] as const
    const timeline = [{ at: 0, type: 'warning', message, ...pod('a') }] as const
    const text = planText({ ...plan, problems, timeline }, { line: 'coracle', output: message, coloured: false })
    expect(text).not.toContain('\u001b')
    expect(text.split('quota ^[[2J')).toHaveLength(4)
  })

  it('says what would happen, how available all would be, what goes wrong, and what it assumes', () => {
    const text = planText(
      {
        ...plan,
        verdict: 'unsafe',
        timeline: [
          { at: 0, type: 'updated', object: deployment },
          { at: 0, type: 'created', ...pod('a') },
          { at: 75, type: 'ready', node: 'n1', ...pod('a') },
        ],
        durationSeconds: 75,
        availability: [
          {
            object: deployment,
            lowest: 1,
            at: 0,
            promised: 2,
            by: 'maxUnavailable 1',
            broken: { at: 0, ready: 1, promised: 2 },
            samples: [
              { at: 0, ready: 3, desired: 3 },
              { at: 0, ready: 1, desired: 3 },
            ],
          },
        ],
        problems: [
          {
            severity: 'error',
            type: 'unavailable',
            object: deployment,
            at: 0,
            message: '1 ready where 2 are promised',
          },
          { severity: 'warning', type: 'warning', object: replicaSet, at: 75, message: 'odd' },
        ],
        copy: {
          ...plan.copy,
          gaps: [{ resource: 'secrets', reason: 'forbidden', message: 'no' }],
          notAsked: ['Webhook x'],
        },
      },
      { line: 'coracle apply -f web.yaml', output: 'deployment.apps/web configured\n', coloured: false },
    )
    expect(text).toBe(`Plan of: coracle apply -f web.yaml
Played on a copy of 9 objects as of 2026-01-01T00:00:00Z (revision 7). Nothing was changed.
Namespace: shop

  deployment.apps/web configured

    +0s  updated  deployment/web
    +0s  created  pod/a
 +1m15s  ready    pod/a           on n1

AVAILABILITY     LOWEST   PROMISED   0s                                 1m22s
deployment/web   1        2          █▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃  maxUnavailable 1

✗ deployment/web: 1 ready where 2 are promised (+0s)
! replicaset/web-1: odd (+1m15s)

Assumed: containers start in 2s (--start-delay), those that end take 30s (--run-time); seed 1
Not read: secrets (forbidden)
Not asked, and may refuse or change what comes: Webhook x

Not safe: one thing goes wrong.
`)
  })

  it('says where chance decides', () => {
    const quota = { kind: 'ResourceQuota', namespace: 'shop', name: 'few' }
    const workloads = [deployment, { kind: 'Job', namespace: 'shop', name: 'import' }]
    expect(textOf({ assumptions: { ...plan.assumptions, contestedQuotas: [{ quota, workloads }] } })).toContain(
      'Chance decides who gets the room of resourcequota/few: deployment/web, job/import\n',
    )
  })

  it('is coloured where that is wanted, and nowhere else', () => {
    expect(textOf({}, true)).toContain('\u001b[32mSafe')
    expect(textOf({}, false)).not.toContain('\u001b')
  })

  it('shows a change of which nothing comes', () => {
    expect(textOf({})).toContain('  nothing happens\n')
  })

  it('names namespaces where there are several', () => {
    const other = { ...deployment, namespace: 'other' }
    const timeline = [deployment, other].map((object): ReportedEvent => ({ at: 0, type: 'created', object }))
    expect(textOf({ timeline })).toContain('deployment/other/web')
  })

  it('has a bounded number of rows', () => {
    const timeline = Array.from(
      { length: rowsMax + 5 },
      (_, index): ReportedEvent => ({ at: index, type: 'created', object: { kind: 'ConfigMap', name: `c${index}` } }),
    )
    expect(textOf({ timeline })).toContain('… and 5 more (-o json has all)')
  })
})
