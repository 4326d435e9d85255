import { describe, expect, it } from 'vitest'
import type { Pod } from '../kinds/core/pod/pod-schema.ts'
import { formatQuantity } from '../quantity.ts'
import { quotaUsage } from '../quota/usage.ts'
import { isBeingResized, specOnNode } from './resources-on-node.ts'

interface Resized {
  /** CPU of the spec, requested and as the limit. */
  readonly asked: string
  /** CPU that the node has given. */
  readonly given: string
  /** The generation that the node has seen of two. */
  readonly observed?: number
  readonly pending?: { readonly reason: string; readonly observedGeneration?: number }
  readonly phase?: string
}

const resources = (cpu: string) => ({ requests: { cpu, memory: '1Gi' }, limits: { cpu } })

const resized = ({ asked, given, observed = 2, pending, phase = 'Running' }: Resized): Pod => {
  const status = (name: string) => ({
    name,
    allocatedResources: resources(given).requests,
    resources: resources(given),
  })
  return {
    metadata: { generation: 2 },
    spec: {
      containers: [{ name: 'main', resources: resources(asked) }],
      initContainers: [{ name: 'side', restartPolicy: 'Always', resources: resources(asked) }],
    },
    status: {
      phase,
      observedGeneration: observed,
      containerStatuses: [status('main')],
      initContainerStatuses: [status('side')],
      conditions: pending === undefined ? [] : [{ type: 'PodResizePending', status: 'True', ...pending }],
    },
  } as unknown as Pod
}

const infeasible = (observedGeneration?: number) => ({
  pending: { reason: 'Infeasible', ...(observedGeneration === undefined ? {} : { observedGeneration }) },
})

describe('what a pod and its sidecar take while their resources are changed', () => {
  it.each<[string, Resized, string]>([
    ['what they ask for, where the node has yet to see it', { asked: '3', given: '1', observed: 1 }, '6'],
    ['what they have, where that is more', { asked: '1', given: '3', observed: 1 }, '6'],
    ['what they wait for', { asked: '3', given: '1', pending: { reason: 'Deferred' } }, '6'],
    ['what they have, where they never get more', { asked: '3', given: '1', ...infeasible(2) }, '2'],
    [
      'what they have, where the node does not say of which request it speaks',
      { asked: '3', given: '1', ...infeasible() },
      '2',
    ],
    ['what they ask for now, where an earlier request was refused', { asked: '3', given: '1', ...infeasible(1) }, '6'],
    ['what they ask for, when they have got it', { asked: '3', given: '3' }, '6'],
  ])('is %s', (_what, state, cpu) => {
    const usage = quotaUsage({ group: '', plural: 'pods' }, resized(state), 0)
    const amounts = ['cpu', 'requests.cpu', 'limits.cpu', 'requests.memory'].map((name) => {
      const amount = usage.get(name)
      return amount && formatQuantity(amount)
    })
    expect(amounts).toEqual([cpu, cpu, cpu, '2Gi'])
  })

  it('is what they still have while they are given less', () => {
    const pod = resized({ asked: '1', given: '1' })
    const status = (name: string) => ({ name, allocatedResources: resources('1').requests, resources: resources('3') })
    const shrinking = {
      ...pod,
      status: {
        ...pod.status,
        containerStatuses: [status('main')],
        initContainerStatuses: [status('side')],
        conditions: [{ type: 'PodResizeInProgress', status: 'True' }],
      },
    } as unknown as Pod
    const usage = quotaUsage({ group: '', plural: 'pods' }, shrinking, 0)
    const amounts = ['requests.cpu', 'limits.cpu'].map((name) => formatQuantity(usage.get(name) as never))
    expect(amounts).toEqual(['6', '6'])
  })

  it('is nothing when the pod has ended', () => {
    const usage = quotaUsage(
      { group: '', plural: 'pods' },
      resized({ asked: '1', given: '3', observed: 1, phase: 'Failed' }),
      0,
    )
    expect([...usage.keys()]).toEqual(['count/pods'])
  })
})

describe('what a pod takes as a whole while that is changed', () => {
  const whole = (pending?: object) =>
    ({
      metadata: { generation: 2 },
      spec: {
        containers: [{ name: 'main', resources: resources('1') }],
        resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '3' } },
      },
      status: {
        observedGeneration: 1,
        containerStatuses: [{ name: 'main', allocatedResources: { cpu: '1' } }],
        resources: { requests: { cpu: '1', memory: '2Gi', other: '1' }, limits: { cpu: '5', memory: '5Gi' } },
        allocatedResources: { cpu: '1500m' },
        conditions: pending === undefined ? [] : [{ type: 'PodResizePending', status: 'True', ...pending }],
      },
    }) as unknown as Pod

  it.each<[string, object | undefined, object]>([
    ['the most of all that it asks for or has', undefined, { cpu: '2', memory: '2Gi' }],
    ['what it has, where it never gets more', { reason: 'Infeasible' }, { cpu: '1500m', memory: '2Gi' }],
  ])('is %s', (_what, pending, requests) => {
    expect(specOnNode(whole(pending)).resources).toEqual({ requests, limits: { cpu: '5' } })
  })
})

describe('the spec of a pod on its node', () => {
  it('is the same object where nothing is changed', () => {
    const pod = resized({ asked: '1', given: '1' })
    expect(isBeingResized(pod)).toBe(false)
    expect(specOnNode(pod)).toBe(pod.spec)
  })

  it('says what is asked for of containers that the node tells nothing of', () => {
    const pod = resized({ asked: '3', given: '1', observed: 1 })
    const unknown = { ...pod, status: { ...pod.status, containerStatuses: [] } } as Pod
    expect(specOnNode(unknown).containers[0]?.resources).toEqual(resources('3'))
  })

  it('has limits only where a container has some', () => {
    const pod = resized({ asked: '1', given: '1', observed: 1 })
    const unlimited = (each: { readonly name: string }) => ({ ...each, resources: { requests: { cpu: '1' } } })
    const { status = {} } = pod
    const bare = {
      ...pod,
      spec: { ...pod.spec, containers: pod.spec.containers.map(unlimited) },
      status: { ...status, containerStatuses: status.containerStatuses?.map(unlimited) },
    } as Pod
    expect(specOnNode(bare).containers[0]?.resources?.limits).toBeUndefined()
  })
})
