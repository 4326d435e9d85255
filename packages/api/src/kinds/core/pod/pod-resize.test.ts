import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../../../field-error.ts'
import { storedPod, withStatus } from './pod-fixtures.ts'
import { validatePodResize, withResizedContainers } from './pod-resize.ts'

const main = { name: 'web', image: 'x', resources: { requests: { cpu: '100m' }, limits: { cpu: '200m' } } }
const grown = { requests: { cpu: '100m' }, limits: { cpu: '300m' } }
const problems = (pod: ReturnType<typeof storedPod>, written: ReturnType<typeof storedPod>) =>
  validatePodResize(withResizedContainers(pod, written), pod).map(describeFieldError)

describe('a resize', () => {
  it('is not for containers that start before the others, and would start anew', () => {
    const init = {
      ...main,
      name: 'init',
      resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
    }
    const pod = storedPod({ containers: [main], initContainers: [init] })
    const written = storedPod({ containers: [main], initContainers: [{ ...init, resources: grown }] })
    // Such a pod can only be there from before: what was wrong with it is not told again.
    expect(problems(pod, written)).toEqual([
      'spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
    ])
  })

  it('is not for pods that have resources of their node by a claim', () => {
    const pod = withStatus(storedPod({ containers: [main] }), {
      nodeAllocatableResourceClaimStatuses: [{ resourceClaimName: 'c', resources: { cpu: '1' } }],
    })
    expect(problems(pod, storedPod({ containers: [{ ...main, resources: grown }] }))).toEqual([
      'spec: Forbidden: pods with node allocatable resource claims cannot be resized',
    ])
  })
})
