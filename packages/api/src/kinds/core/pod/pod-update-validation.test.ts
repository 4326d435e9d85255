import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../../../field-error.ts'
import { storedPod, withSpec, withStatus } from './pod-fixtures.ts'
import type { Pod } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'
import { validatePodStatusUpdate, validatePodUpdate } from './pod-update-validation.ts'

const update = (old: Pod, spec: Partial<PodSpec>) => validatePodUpdate(withSpec(old, spec), old).map(describeFieldError)
const web = { name: 'web', image: 'nginx:1.27' }
const others =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

describe('an update of a pod', () => {
  const pod = storedPod({
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }],
    activeDeadlineSeconds: 60,
  })
  const [container = web] = pod.spec.containers

  it.each<[string, Partial<PodSpec>]>([
    ['an image', { containers: [{ ...container, image: 'nginx:2' }] }],
    ['a shorter deadline', { activeDeadlineSeconds: 30 }],
    ['a further toleration', { tolerations: [{ key: 'b' }, ...(pod.spec.tolerations ?? [])] }],
    [
      'how long a taint is tolerated',
      { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 }] },
    ],
  ])('may change %s', (_what, spec) => {
    expect(update(pod, spec)).toEqual([])
  })

  it.each<[string, Partial<PodSpec>, readonly string[]]>([
    [
      'add a container',
      { containers: [container, web] },
      ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    ],
    [
      'add an init container',
      { initContainers: [web] },
      ['spec.initContainers: Forbidden: pod updates may not add or remove containers'],
    ],
    [
      'extend the deadline',
      { activeDeadlineSeconds: 90 },
      ['spec.activeDeadlineSeconds: Invalid value: 90: must be less than or equal to previous value'],
    ],
    [
      'take the deadline away',
      { activeDeadlineSeconds: undefined },
      ['spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value'],
    ],
    [
      'take a toleration away',
      { tolerations: [] },
      ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    ],
    [
      'add a gate',
      { schedulingGates: [{ name: 'g' }] },
      ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'"],
    ],
    ['move it', { nodeName: 'elsewhere' }, [`spec: Forbidden: ${others}\n+ nodeName: "elsewhere"`]],
    [
      'change a command',
      { containers: [{ ...container, image: 'other', command: ['sh'] }] },
      [`spec: Forbidden: ${others}\n+ containers[0].command: ["sh"]`],
    ],
    [
      'change the grace period',
      { terminationGracePeriodSeconds: 1 },
      [`spec: Forbidden: ${others}\n- terminationGracePeriodSeconds: 30\n+ terminationGracePeriodSeconds: 1`],
    ],
    ['pick nodes', { nodeSelector: { a: 'b' } }, [`spec: Forbidden: ${others}\n+ nodeSelector: {"a":"b"}`]],
  ])('may not %s', (_what, spec, expected) => {
    expect(update(pod, spec)).toEqual(expected)
  })

  it('may set a grace period that was negative to one second', () => {
    const old = withSpec(pod, { terminationGracePeriodSeconds: -1 })
    expect(update(old, { terminationGracePeriodSeconds: 1 })).toEqual([])
  })
})

describe('an update of a gated pod', () => {
  const term = (...values: string[]) => ({ key: 'zone', operator: 'In', values })
  const affinity = (...terms: ReturnType<typeof term>[]) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: terms }] },
    },
  })
  const gated = storedPod({ schedulingGates: [{ name: 'g' }], nodeSelector: { a: 'b' }, affinity: affinity(term('x')) })
  const selector = 'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms'

  it.each<[string, Partial<PodSpec>, readonly string[]]>([
    ['opens the gate', { schedulingGates: undefined }, []],
    ['asks for more labels', { nodeSelector: { a: 'b', c: 'd' } }, []],
    [
      'asks for other labels',
      { nodeSelector: { a: 'c' } },
      [
        'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ],
    ],
    ['narrows its affinity', { affinity: affinity(term('x'), term('y')) }, []],
    [
      'widens its affinity',
      { affinity: affinity(term('x', 'y')) },
      [
        `spec.affinity.nodeAffinity.${selector}[0]: Invalid value: {"matchExpressions":[{"key":"zone","operator":"In","values":["x","y"]}]}: only additions are allowed (no mutations or deletions)`,
      ],
    ],
    [
      'drops its affinity',
      { affinity: undefined },
      [
        `spec.affinity.nodeAffinity.${selector}: Invalid value: []: no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
      ],
    ],
  ])('%s', (_what, spec, expected) => {
    expect(update(gated, spec)).toEqual(expected)
  })

  it('may set an affinity where there was none', () => {
    const old = withSpec(gated, { affinity: undefined })
    expect(update(old, { affinity: affinity(term('x')) })).toEqual([])
  })
})

describe('an update of the status', () => {
  const errors = (policy: string, old: PodStatus, status: PodStatus, spec = {}) => {
    const pod = storedPod({ restartPolicy: policy, ...spec })
    return validatePodStatusUpdate(withStatus(pod, status), withStatus(pod, old)).map(describeFieldError)
  }
  const base = { name: 'web', ready: false, restartCount: 0, image: 'a', imageID: '' }
  const ended = (exitCode: number): readonly ContainerStatus[] => [{ ...base, state: { terminated: { exitCode } } }]
  const running: readonly ContainerStatus[] = [{ ...base, state: { running: {} } }]
  const rule = (action: string, code: number) => ({ action, exitCodes: { operator: 'In', values: [code] } })
  const revived = (list: string) =>
    `status.${list}[0].state: Forbidden: may not be transitioned to non-terminated state`

  it.each([
    ['Always', 0, []],
    ['OnFailure', 1, []],
    ['OnFailure', 0, [revived('containerStatuses')]],
    ['Never', 1, [revived('containerStatuses')]],
  ])('with restart policy %s lets a container that exited with %i run again: %j', (policy, exitCode, expected) => {
    expect(errors(policy, { containerStatuses: ended(exitCode) }, { containerStatuses: running })).toEqual(expected)
  })

  it.each([
    ['Never', { restartPolicy: 'Always' }, []],
    ['Always', { restartPolicy: 'Never' }, [revived('containerStatuses')]],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 1)] }, []],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 2)] }, [revived('containerStatuses')]],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('RestartAllContainers', 2)] }, []],
  ])('asks a container before its pod, whose policy is %s: %j', (policy, own, expected) => {
    const spec = { containers: [{ ...web, ...own }] }
    expect(errors(policy, { containerStatuses: ended(1) }, { containerStatuses: running }, spec)).toEqual(expected)
  })

  it('lets all containers run again where one may restart them all, but for ephemeral ones', () => {
    const starter = {
      ...web,
      name: 's',
      restartPolicy: 'Always',
      restartPolicyRules: [rule('RestartAllContainers', 2)],
    }
    const old = {
      containerStatuses: ended(0),
      initContainerStatuses: ended(0),
      ephemeralContainerStatuses: ended(0),
    }
    const status = { containerStatuses: running, initContainerStatuses: running, ephemeralContainerStatuses: running }
    expect(errors('Never', old, status, { initContainers: [web, starter] })).toEqual([
      revived('ephemeralContainerStatuses'),
    ])
  })

  it('lets sidecars run again, and ephemeral containers never', () => {
    const spec = { initContainers: [{ ...web, name: 'proxy', restartPolicy: 'Always' }] }
    const named = (statuses: readonly ContainerStatus[]) => statuses.map((each) => ({ ...each, name: 'proxy' }))
    const old = { initContainerStatuses: named(ended(0)), ephemeralContainerStatuses: ended(0) }
    const status = { initContainerStatuses: named(running), ephemeralContainerStatuses: running }
    expect(errors('Never', old, status, spec)).toEqual([revived('ephemeralContainerStatuses')])
  })

  it('wants one address of each family', () => {
    const podIPs = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]
    expect(errors('Always', {}, { podIPs })).toEqual([
      'status.podIPs: Invalid value: [{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ])
    expect(errors('Always', {}, { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] })).toEqual([])
    expect(errors('Always', {}, { hostIP: '10.0.0.2', hostIPs: [{ ip: '10.0.0.1' }] })).toEqual([
      'status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`',
    ])
  })
})
