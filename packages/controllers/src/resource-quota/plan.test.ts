import { type Pod, parseTime, type ResourceQuota } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { countedKinds, planQuotaStatus } from './plan.ts'

const quota = (hard: Readonly<Record<string, string>>, spec: object = {}, status?: object): ResourceQuota =>
  ({ metadata: { namespace: 'default', name: 'q' }, spec: { hard, ...spec }, status }) as unknown as ResourceQuota

const pod = (requests: Readonly<Record<string, string>>, phase = 'Running'): Pod =>
  ({
    metadata: {},
    spec: { containers: [{ name: 'c', resources: { requests, limits: requests } }] },
    status: { phase },
  }) as unknown as Pod

const nowMs = parseTime('2026-01-01T12:00:00Z')

const pods = { group: '', plural: 'pods' }

describe('what is used of a quota', () => {
  it('is the sum of what there is', () => {
    const given = quota({
      pods: '10',
      'requests.cpu': '2',
      cpu: '2',
      'limits.memory': '4Gi',
      'requests.example.com/gpu': '4',
    })
    const objects = [pod({ cpu: '500m', memory: '1Gi', 'example.com/gpu': '1' }), pod({ cpu: '250m', memory: '512Mi' })]
    expect(planQuotaStatus(given, [{ resource: pods, objects }], nowMs).used).toEqual({
      pods: '2',
      'requests.cpu': '750m',
      cpu: '750m',
      'limits.memory': '1536Mi',
      'requests.example.com/gpu': '1',
    })
  })

  it('is nothing of pods that have ended, but that they are there', () => {
    const given = quota({ pods: '10', 'requests.cpu': '2', 'count/pods': '10' })
    expect(planQuotaStatus(given, [{ resource: pods, objects: [pod({ cpu: '1' }, 'Succeeded')] }], nowMs).used).toEqual(
      {
        pods: '0',
        'requests.cpu': '0',
        'count/pods': '1',
      },
    )
  })

  it.each([
    ['2026-01-01T11:59:31Z', 30, '1'],
    ['2026-01-01T11:59:30Z', 30, '1'],
    ['2026-01-01T11:59:29Z', 30, '0'],
    ['2026-01-01T12:00:00Z', 0, '1'],
    ['2026-01-01T11:59:59Z', 0, '0'],
  ])(
    'is nothing of pods that are still there a grace period after they should be gone: at %s, of %i s',
    (deletionTimestamp, deletionGracePeriodSeconds, used) => {
      const given = quota({ pods: '10', 'requests.cpu': '2', 'count/pods': '10' })
      const going = { ...pod({ cpu: '1' }), metadata: { deletionTimestamp, deletionGracePeriodSeconds } }
      expect(planQuotaStatus(given, [{ resource: pods, objects: [going] }], nowMs).used).toEqual({
        pods: used,
        'requests.cpu': used,
        'count/pods': '1',
      })
    },
  )

  it('is of its scope', () => {
    const given = quota({ pods: '10' }, { scopes: ['BestEffort'] })
    expect(planQuotaStatus(given, [{ resource: pods, objects: [pod({ cpu: '1' }), pod({})] }], nowMs).used).toEqual({
      pods: '1',
    })
  })

  it('is what it was where nothing has changed', () => {
    const status = { hard: { pods: '10' }, used: { pods: '0' } }
    expect(planQuotaStatus(quota({ pods: '10' }, {}, status), [{ resource: pods, objects: [] }], nowMs)).toBe(status)
  })

  it('is not said where nothing is counted under a name, or stays what was said', () => {
    const hard = { pods: '10', 'count/widgets.example.com': '1', 'example.com/gpu': '1' }
    const counted = [{ resource: pods, objects: [] }]
    expect(planQuotaStatus(quota(hard), counted, nowMs).used).toEqual({ pods: '0' })
    const status = { hard, used: { pods: '0', 'count/widgets.example.com': '1' } }
    expect(planQuotaStatus(quota(hard, {}, status), counted, nowMs)).toBe(status)
  })

  it.each<[string, string, object, string]>([
    ['is what a claim asks for', '1Gi', {}, '1Gi'],
    ['is in whole bytes', '1500m', {}, '2'],
    ['is what a volume is being grown to', '1Gi', { allocatedResources: { storage: '2Gi' } }, '2Gi'],
    ['is what is asked for where the volume has less', '3Gi', { allocatedResources: { storage: '2Gi' } }, '3Gi'],
  ])('%s', (_, storage, status, used) => {
    const resource = { group: '', plural: 'persistentvolumeclaims' }
    const claim = { metadata: {}, spec: { storageClassName: 'fast', resources: { requests: { storage } } }, status }
    const given = quota({ 'requests.storage': '9Gi', 'fast.storageclass.storage.k8s.io/requests.storage': '9Gi' })
    const total = planQuotaStatus(given, [{ resource, objects: [claim as never] }], nowMs).used
    expect(Object.values(total ?? {})).toEqual([used, used])
  })

  it('is how many devices of a class claims may come to have: the most of several ways, and 32 where all are wanted', () => {
    const resource = { group: 'resource.k8s.io', plural: 'resourceclaims' }
    const claim = (...requests: readonly object[]) => ({ metadata: {}, spec: { devices: { requests } } }) as never
    const exact = (deviceClassName: string, count: number) => ({
      deviceClassName,
      allocationMode: 'ExactCount',
      count,
    })
    const all = { deviceClassName: 'slow', allocationMode: 'All' }
    const given = quota({
      'fast.deviceclass.resource.k8s.io/devices': '9',
      'slow.deviceclass.resource.k8s.io/devices': '99',
      'none.deviceclass.resource.k8s.io/devices': '9',
      'count/resourceclaims.resource.k8s.io': '9',
    })
    const objects = [
      claim({ exactly: exact('fast', 2) }, { exactly: exact('fast', 1) }),
      claim({ firstAvailable: [exact('fast', 1), exact('fast', 3), exact('slow', 2)] }, { exactly: all }),
      claim(),
    ]
    expect(planQuotaStatus(given, [{ resource, objects }], nowMs).used).toEqual({
      'fast.deviceclass.resource.k8s.io/devices': '6',
      'slow.deviceclass.resource.k8s.io/devices': '34',
      'none.deviceclass.resource.k8s.io/devices': '0',
      'count/resourceclaims.resource.k8s.io': '3',
    })
  })
})

it('a quota counts the kinds that it names', () => {
  const hard = {
    cpu: '1',
    'requests.storage': '1',
    'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    'count/jobs.batch': '1',
    'services.nodeports': '1',
    secrets: '1',
    'example.com/gpu': '1',
    'fast.deviceclass.resource.k8s.io/devices': '1',
  }
  expect(countedKinds(quota(hard))).toEqual([
    'pods',
    'persistentvolumeclaims',
    'jobs.batch',
    'services',
    'secrets',
    'resourceclaims.resource.k8s.io',
  ])
})
