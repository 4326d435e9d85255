import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { applyProfile, checkProfile, type DebugStyle } from './profiles.ts'

const probe = { exec: { command: ['true'] } }
const own = { runAsUser: 7, capabilities: { add: ['KILL'] } }

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels: { app: 'web' }, annotations: { note: 'one' } },
  spec: {
    initContainers: [{ name: 'prepare' }],
    containers: [
      { name: 'main', livenessProbe: probe, readinessProbe: probe, startupProbe: probe },
      { name: 'debugger', securityContext: own },
    ],
  },
}

const securedBy = (profile: string, style: DebugStyle) =>
  applyProfile(profile, style, pod, 'debugger', {}).spec.containers[1]?.securityContext

const restricted = {
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  allowPrivilegeEscalation: false,
  seccompProfile: { type: 'RuntimeDefault' },
}
const adding = (...added: readonly string[]) => ({ ...own, capabilities: { add: ['KILL', ...added] } })

describe('the rights that a profile gives', () => {
  it.each<[string, object | undefined, object | undefined]>([
    ['legacy', own, own],
    ['general', adding('SYS_PTRACE'), undefined],
    ['baseline', undefined, undefined],
    ['restricted', restricted, restricted],
    ['netadmin', adding('NET_ADMIN', 'NET_RAW'), adding('NET_ADMIN', 'NET_RAW')],
    ['sysadmin', { ...own, privileged: true }, { ...own, privileged: true }],
  ])('%s', (profile, inPods, onNodes) => {
    expect(securedBy(profile, 'ephemeral')).toEqual(inPods)
    expect(securedBy(profile, 'copy')).toEqual(inPods)
    expect(securedBy(profile, 'node')).toEqual(onNodes)
    expect(applyProfile(profile, 'copy', pod, 'debugger', {}).spec.containers[0]?.securityContext).toBeUndefined()
  })
})

describe('a pod on a node', () => {
  it.each([
    ['legacy', true, true],
    ['general', true, true],
    ['baseline', false, false],
    ['restricted', false, false],
    ['netadmin', true, false],
    ['sysadmin', true, true],
  ])('has with %s the namespaces of the node: %s, and its files: %s', (profile, namespaces, files) => {
    const { spec } = applyProfile(profile, 'node', pod, 'debugger', {})
    expect([spec.hostNetwork, spec.hostPID, spec.hostIPC].map((each) => each === true)).toEqual(
      Array(3).fill(namespaces),
    )
    expect(spec.volumes?.[0]?.hostPath?.path).toBe(files ? '/' : undefined)
    expect(spec.containers.map(({ volumeMounts }) => volumeMounts?.[0]?.mountPath)).toEqual([
      undefined,
      files ? '/host' : undefined,
    ])
  })
})

describe('a copy', () => {
  it('keeps what it is told to, and shares its processes', () => {
    const bare = applyProfile('general', 'copy', pod, 'debugger', { keepInitContainers: false })
    expect(bare.metadata).toEqual({ name: 'web' })
    expect(bare.spec).toMatchObject({ containers: [{ name: 'main' }, {}], shareProcessNamespace: true })
    expect(Object.keys(bare.spec.containers[0] ?? {})).toEqual(['name'])
    expect(bare.spec.initContainers).toBeUndefined()
    const all = { keepLabels: true, keepAnnotations: true, keepLiveness: true, keepReadiness: true, keepStartup: true }
    const kept = applyProfile('general', 'copy', pod, 'debugger', all)
    expect(kept.metadata).toEqual(pod.metadata)
    expect(kept.spec.containers[0]).toEqual(pod.spec.containers[0])
    expect(kept.spec.initContainers).toEqual(pod.spec.initContainers)
  })

  it('has with the legacy profile all but the labels', () => {
    const copy = applyProfile('legacy', 'copy', pod, 'debugger', { keepLabels: true })
    expect(copy).toEqual({ ...pod, metadata: { name: 'web', annotations: { note: 'one' } } })
  })

  it('leaves the processes apart where its pod says so', () => {
    const apart = { ...pod, spec: { ...pod.spec, shareProcessNamespace: false } }
    expect(applyProfile('general', 'copy', apart, 'debugger', {}).spec.shareProcessNamespace).toBe(false)
  })
})

it('a profile that is none is refused', () => {
  expect(() => checkProfile('toString')).toThrow('unknown profile: toString')
})
