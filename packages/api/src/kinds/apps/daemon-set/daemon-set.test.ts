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
import { daemonSets, templateGenerationAnnotation } from './daemon-set.ts'

const template = { metadata: { labels: { app: 'log' } }, spec: { containers: [{ name: 'log', image: 'fluentd:1' }] } }
const spec = { selector: { matchLabels: { app: 'log' } }, template }

it('replaces pods on one node after the other unless it says otherwise', () => {
  expect(decoded(daemonSets, { spec }).spec).toMatchObject({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
  })
})

it('leaves what is replaced by hand without steps', () => {
  const updateStrategy = { type: 'OnDelete' }
  expect(decoded(daemonSets, { spec: { ...spec, updateStrategy } }).spec.updateStrategy).toEqual(updateStrategy)
})

describe('validation of a daemon set', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['nothing wrong', {}, []],
    [
      'an empty selector',
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
    ],
    [
      'an unknown strategy',
      { updateStrategy: { type: 'Recreate' } },
      [
        'spec.updateStrategy: Unsupported value: {"Type":"Recreate","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
      ],
    ],
    [
      'a rollout that cannot move',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
    ],
    [
      'steps in a form that is no number',
      { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '0x5', maxSurge: 0 } } },
      [
        expect.stringContaining(
          'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0x5": a valid percent',
        ) as never,
        'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
      ],
    ],
    [
      'both kinds of steps',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: '10%' } } },
      [
        'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "10%": may not be set when maxUnavailable is non-zero',
      ],
    ],
    [
      'more than all nodes',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: '110%' } } },
      ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "110%": must not be greater than 100%'],
    ],
    [
      'pods that end',
      { template: { ...template, spec: { ...template.spec, activeDeadlineSeconds: 9 } } },
      ['spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported'],
    ],
  ])('says of %s', (_, changes, problems) => {
    expect(problemsOfCreate(daemonSets, { spec: { ...spec, ...changes } })).toEqual(problems)
  })

  it('keeps the selector as it was', () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'Exists' }] }
    expect(problemsOfUpdate(daemonSets, { spec }, { spec: { ...spec, selector } })).toEqual([
      expect.stringMatching(/^spec\.selector: .* field is immutable$/),
    ])
  })

  it('counts no fewer nodes than none', () => {
    expect(problemsOfStatus(daemonSets, { spec, status: { numberReady: -1 } })).toEqual([
      'status.numberReady: Invalid value: -1: must be greater than or equal to 0',
    ])
  })
})

describe('the generation of the template', () => {
  const generationOf = ({ metadata }: { metadata: { annotations?: Readonly<Record<string, string>> | undefined } }) =>
    metadata.annotations?.[templateGenerationAnnotation]
  const old = created(daemonSets, { spec })

  it('starts with one, and no status', () => {
    expect(generationOf(old)).toBe('1')
    expect(old.status).toEqual({
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    })
  })

  it('rises with each change of the template, and only with that', () => {
    const update = (changes: Draft) => {
      const changed = decoded(daemonSets, { spec: { ...spec, ...changes } })
      return generationOf(daemonSets.strategy.prepareForUpdate?.(changed, old, 0) ?? changed)
    }
    expect(update({ minReadySeconds: 5 })).toBe('1')
    expect(update({ template: { ...template, metadata: { labels: { app: 'log', v: '2' } } } })).toBe('2')
  })
})

it('shows nodes in its table', () => {
  expect(columnNames(daemonSets)).toEqual({
    shown: ['Name', 'Desired', 'Current', 'Ready', 'Up-to-date', 'Available', 'Node Selector', 'Age'],
    wide: ['Containers', 'Images', 'Selector'],
  })
  const draft = {
    spec: { ...spec, template: { ...template, spec: { ...template.spec, nodeSelector: { disk: 'ssd' } } } },
    status: {
      desiredNumberScheduled: 5,
      currentNumberScheduled: 4,
      numberReady: 3,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
      numberMisscheduled: 0,
    },
  }
  expect(row(daemonSets, draft, 0)).toMatchObject({
    Desired: 5,
    Current: 4,
    Ready: 3,
    'Up-to-date': 2,
    Available: 1,
    'Node Selector': 'disk=ssd',
  })
})

it('is warned of its template whenever that is written', () => {
  const metadata = { annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' } }
  const first = created(daemonSets, {
    spec: { ...spec, template: { ...template, metadata: { ...template.metadata, ...metadata } } },
  })
  const after = (templates: number) => {
    const annotations = { [templateGenerationAnnotation]: String(templates) }
    return { ...first, metadata: { ...first.metadata, generation: 2, annotations } }
  }
  const { warnings } = daemonSets.strategy
  const text =
    'spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead'
  expect(warnings?.(first, undefined)).toEqual([text])
  expect(warnings?.(after(2), first)).toEqual([text])
  expect(warnings?.(after(1), first)).toEqual([])
})
