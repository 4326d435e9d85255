import { describe, expect, it } from 'vitest'
import {
  columnNames,
  created,
  type Draft,
  decoded,
  problemsOfCreate,
  problemsOfStatus,
  row,
} from '../../../../test/requests.ts'
import { parseTime } from '../../../time.ts'
import { replicationControllers } from './replication-controller.ts'

const container = { name: 'web', image: 'nginx' }
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } }
const valid = { spec: { replicas: 2, selector: { app: 'web' }, template } }

describe('defaults of a replication controller', () => {
  it('takes selector and labels from its template', () => {
    const controller = decoded(replicationControllers, { spec: { template } })
    expect(controller.spec.selector).toEqual({ app: 'web' })
    expect(controller.metadata.labels).toEqual({ app: 'web' })
    expect(controller.spec.replicas).toBe(1)
  })

  it('keeps what it says itself', () => {
    const controller = decoded(replicationControllers, {
      metadata: { name: 'x', labels: { tier: 'front' } },
      spec: { replicas: 0, selector: { tier: 'back' }, template },
    })
    expect(controller.spec.selector).toEqual({ tier: 'back' })
    expect(controller.metadata.labels).toEqual({ tier: 'front' })
    expect(controller.spec.replicas).toBe(0)
  })

  it('fills in the pod spec of its template', () => {
    const { spec } = decoded(replicationControllers, valid)
    expect(spec.template?.spec).toMatchObject({ restartPolicy: 'Always', containers: [{ imagePullPolicy: 'Always' }] })
  })

  it('gives back what needs no change', () => {
    const controller = decoded(replicationControllers, valid)
    expect(replicationControllers.applyDefaults?.(controller)).toBe(controller)
  })
})

it('starts with an empty status, whatever the client says', () => {
  expect(created(replicationControllers, { ...valid, status: { replicas: 7 } }).status).toEqual({ replicas: 0 })
})

describe('validation of a replication controller', () => {
  const withPod = (spec: Draft): Draft => ({
    spec: { ...valid.spec, template: { ...template, spec: { ...template.spec, ...spec } } },
  })

  it.each<readonly [string, Draft, readonly string[]]>([
    ['nothing wrong', valid, []],
    ['no spec', {}, ['spec.selector: Required value', 'spec.template: Required value']],
    ['no template', { spec: { selector: { app: 'web' } } }, ['spec.template: Required value']],
    ['no labels anywhere', { spec: { template: { spec: template.spec } } }, ['spec.selector: Required value']],
    [
      'too few replicas',
      { spec: { ...valid.spec, replicas: -1, minReadySeconds: -2 } },
      [
        'spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0',
        'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      'a selector that the template does not match',
      { spec: { ...valid.spec, selector: { app: 'db' } } },
      ['spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
    ],
    [
      'a template without labels',
      { spec: { selector: { app: 'db' }, template: { spec: template.spec } } },
      ['spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`'],
    ],
    [
      'pods that end',
      withPod({ restartPolicy: 'OnFailure' }),
      ['spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"'],
    ],
    [
      'pods with a deadline',
      withPod({ activeDeadlineSeconds: 5 }),
      [
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
      ],
    ],
    ['a faulty pod spec', withPod({ containers: [] }), ['spec.template.spec.containers: Required value']],
  ])('says of %s', (_, draft, problems) => {
    expect(problemsOfCreate(replicationControllers, draft)).toEqual(problems)
  })

  it.each<readonly [Draft, readonly string[]]>([
    [{ replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 1, observedGeneration: 3 }, []],
    [
      { replicas: 1, observedGeneration: -1 },
      ['status.observedGeneration: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      { replicas: 1, readyReplicas: 2 },
      ['status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas'],
    ],
    [
      { replicas: 1, fullyLabeledReplicas: 2 },
      ['status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas'],
    ],
    [
      { replicas: 3, readyReplicas: 1, availableReplicas: 2 },
      ['status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas'],
    ],
  ])('says of the status %j', (status, problems) => {
    expect(problemsOfStatus(replicationControllers, { ...valid, status })).toEqual(problems)
  })
})

describe('scale of a replication controller', () => {
  const controller = decoded(replicationControllers, { ...valid, status: { replicas: 1 } })

  it('reads counts and selector', () => {
    const { scale } = replicationControllers
    expect(scale?.replicas(controller)).toBe(2)
    expect(scale?.statusReplicas(controller)).toBe(1)
    expect(scale?.selector(controller)).toBe('app=web')
  })

  it('changes nothing but the count', () => {
    const scaled = replicationControllers.scale?.withReplicas(controller, 5)
    expect(scaled).toEqual({ ...controller, spec: { ...controller.spec, replicas: 5 } })
    expect(scaled?.spec.template).toBe(controller.spec.template)
  })
})

describe('table of replication controllers', () => {
  it('has the columns of kubectl get', () => {
    expect(columnNames(replicationControllers)).toEqual({
      shown: ['Name', 'Desired', 'Current', 'Ready', 'Age'],
      wide: ['Containers', 'Images', 'Selector'],
    })
  })

  it('shows counts, containers and selector', () => {
    const draft = {
      metadata: { name: 'web', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        replicas: 3,
        selector: { tier: 'front', app: 'web' },
        template: {
          metadata: { labels: { app: 'web', tier: 'front' } },
          spec: { containers: [container, { name: 'log', image: 'fluentd:1' }] },
        },
      },
      status: { replicas: 2, readyReplicas: 1 },
    }
    expect(row(replicationControllers, draft, parseTime('2026-01-01T00:03:20Z'))).toEqual({
      Name: 'web',
      Desired: 3,
      Current: 2,
      Ready: 1,
      Age: '3m20s',
      Containers: 'web,log',
      Images: 'nginx,fluentd:1',
      Selector: 'app=web,tier=front',
    })
  })

  it('can be filtered by the number of pods', () => {
    const controller = decoded(replicationControllers, { ...valid, status: { replicas: 4 } })
    expect(replicationControllers.selectableFields['status.replicas']?.(controller)).toBe('4')
  })
})
