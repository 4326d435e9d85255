import { beforeAll, describe, expect, it } from 'vitest'
import { describeFieldError } from '../../../field-error.ts'
import { loadStructForms } from '../../../internal-structs/struct-value.ts'
import { storedPod, withSpec } from './pod-fixtures.ts'
import type { Pod } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import { validatePodUpdate } from './pod-update-validation.ts'

beforeAll(loadStructForms)

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
        `spec.affinity.nodeAffinity.${selector}[0]: Invalid value: {"MatchExpressions":[{"Key":"zone","Operator":"In","Values":["x","y"]}],"MatchFields":null}: only additions are allowed (no mutations or deletions)`,
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

describe('annotations that say how a pod is run', () => {
  const annotated = (annotations: Readonly<Record<string, string>>): Pod => {
    const pod = storedPod()
    return { ...pod, metadata: { ...pod.metadata, annotations } }
  }
  const mirror = 'kubernetes.io/config.mirror'
  const profile = 'container.apparmor.security.beta.kubernetes.io/web'

  it.each([
    [{}, { [mirror]: 'a' }, mirror, 'may not add mirror pod annotation'],
    [{ [mirror]: 'a' }, { [mirror]: 'b' }, mirror, 'may not remove or update mirror pod annotation'],
    [{ [mirror]: 'a' }, {}, mirror, 'may not remove or update mirror pod annotation'],
    [{}, { [profile]: 'unconfined' }, profile, 'may not add AppArmor annotations'],
    [{ [profile]: 'unconfined' }, {}, profile, 'may not remove or update AppArmor annotations'],
  ])('stay as they are: from %j to %j', (before, after, key, why) => {
    expect(validatePodUpdate(annotated(after), annotated(before)).map(describeFieldError)).toEqual([
      `metadata.annotations[${key}]: Forbidden: ${why}`,
    ])
  })

  it('leave all others to be changed', () => {
    expect(validatePodUpdate(annotated({ a: '1', [mirror]: 'm' }), annotated({ b: '2', [mirror]: 'm' }))).toEqual([])
  })
})

describe('what an update tells twice, as upstream does', () => {
  const pod = storedPod({ initContainers: [{ ...web, name: 'init' }] })

  it.each<[Partial<PodSpec>, readonly string[]]>([
    [{ containers: [{ ...web, image: '' }] }, ['spec.containers[0].image: Required value']],
    [
      { initContainers: [{ ...web, name: 'init', image: ' x' }] },
      ['spec.initContainers[0].image: Invalid value: " x": must not have leading or trailing whitespace'],
    ],
    [
      { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }] },
      [
        'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      ],
    ],
  ])('%j', (spec, expected) => {
    expect(update(pod, spec).filter((each) => !each.includes('pod updates may not'))).toEqual(expected)
  })
})
