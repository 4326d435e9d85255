import type { Container, PodSpec } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import { askedUser, containerSecurity, type ImageUser, sandboxSecurity } from './security.ts'

type Own = NonNullable<Container['securityContext']>
type Shared = NonNullable<PodSpec['securityContext']>

const of = (own: Own, shared: Shared = {}, image: ImageUser = {}, spec: Partial<PodSpec> = {}, targetId?: string) => {
  const container = testContainer({ securityContext: own })
  return containerSecurity(testPod({ securityContext: shared, ...spec }), container, image, targetId)
}

describe('the security settings of a container', () => {
  it.each([
    ['an image that says nothing is run as root', {}, {}, {}, { runAsUser: 0 }],
    ['the image names a user', {}, {}, { uid: 7 }, { runAsUser: 7 }],
    ['the image names one by name', {}, {}, { username: 'web' }, { runAsUsername: 'web' }],
    ['the pod names a user', {}, { runAsUser: 5 }, { uid: 7 }, { runAsUser: 5 }],
    [
      'its own goes first',
      { runAsUser: 0, runAsGroup: 3 },
      { runAsUser: 5, runAsGroup: 4 },
      {},
      { runAsUser: 0, runAsGroup: 3 },
    ],
    [
      'groups',
      {},
      { fsGroup: 9, supplementalGroups: [1, 2] },
      {},
      { supplementalGroups: [9, 1, 2], onlyTheseGroups: false },
    ],
    ['no groups but these', {}, { supplementalGroupsPolicy: 'Strict' }, {}, { onlyTheseGroups: true }],
    ['privileged', { privileged: true }, {}, {}, { privileged: true }],
    ['a root that is read-only', { readOnlyRootFilesystem: true }, {}, {}, { readOnlyRootFilesystem: true }],
    ['no more rights', { allowPrivilegeEscalation: false }, {}, {}, { noNewPrivileges: true }],
    ['more rights, unless it says so', {}, {}, {}, { noNewPrivileges: false }],
    [
      'capabilities',
      { capabilities: { add: ['A'], drop: ['ALL'] } },
      {},
      {},
      { addCapabilities: ['A'], dropCapabilities: ['ALL'] },
    ],
    ['no profile is none', {}, {}, {}, { seccomp: { type: 'Unconfined' } }],
    [
      'that of the pod',
      {},
      { seccompProfile: { type: 'RuntimeDefault' } },
      {},
      { seccomp: { type: 'RuntimeDefault' } },
    ],
    [
      'one of the node',
      { seccompProfile: { type: 'Localhost', localhostProfile: 'p.json' } },
      {},
      {},
      { seccomp: { type: 'Localhost', localhostRef: '/var/lib/kubelet/seccomp/p.json' } },
    ],
    [
      'AppArmor',
      { appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } },
      {},
      {},
      { apparmor: { type: 'Localhost', localhostRef: 'p' } },
    ],
    ['all of /proc', { procMount: 'Unmasked' }, {}, {}, { maskedPaths: [], readOnlyPaths: [] }],
  ] as const)('%s', (_, own, shared, image, expected) => {
    expect(of(own as unknown as Own, shared as unknown as Shared, image)).toMatchObject(expected)
  })

  it('hides what is not a container’s business', () => {
    expect(of({}).maskedPaths).toContain('/proc/kcore')
    expect(of({}).readOnlyPaths).toContain('/proc/sys')
  })

  it.each([
    [{}, { network: 'pod', pid: 'container', ipc: 'pod' }],
    [
      { hostNetwork: true, hostPID: true, hostIPC: true },
      { network: 'node', pid: 'node', ipc: 'node' },
    ],
    [{ shareProcessNamespace: true }, { network: 'pod', pid: 'pod', ipc: 'pod' }],
  ] as const)('shares namespaces: %j', (spec, expected) => {
    expect(of({}, {}, {}, spec).namespaces).toEqual(expected)
  })

  it('sees the processes of the container that it is to look into', () => {
    expect(of({}, {}, {}, {}, 'c1').namespaces).toEqual({ network: 'pod', pid: 'target', targetId: 'c1', ipc: 'pod' })
  })
})

describe('the security settings of a sandbox', () => {
  it('are those that its containers share', () => {
    const privileged = testContainer({ name: 'b', securityContext: { privileged: true } })
    const securityContext = {
      runAsUser: 5,
      runAsGroup: 6,
      fsGroup: 7,
      sysctls: [{ name: 'net/ipv4/conf/eth0.1/rp_filter', value: '1' }],
    }
    expect(sandboxSecurity(testPod({ securityContext, containers: [testContainer(), privileged] }))).toMatchObject({
      runAsUser: 5,
      runAsGroup: 6,
      supplementalGroups: [7],
      privileged: true,
      seccomp: { type: 'RuntimeDefault' },
      sysctls: { 'net.ipv4.conf.eth0/1.rp_filter': '1' },
    })
  })

  it('name no group without a user, which runtimes refuse', () => {
    expect(sandboxSecurity(testPod({ securityContext: { runAsGroup: 6 } }))).not.toHaveProperty('runAsGroup')
  })
})

describe('whom a container wants to be where no image says anything of it', () => {
  const asked = (own: Own, shared: Shared = {}) =>
    askedUser(testPod({ securityContext: shared }), testContainer({ securityContext: own }))
  const nothingMore = { supplementalGroups: [], onlyTheseGroups: false, neverRoot: false, noNewPrivileges: false }

  it.each<[string, Own, Shared, ReturnType<typeof askedUser>]>([
    [
      'it does not say',
      { allowPrivilegeEscalation: false, runAsNonRoot: false },
      { supplementalGroups: [] },
      undefined,
    ],
    ['its pod names a user', {}, { runAsUser: 5 }, { ...nothingMore, runAsUser: 5 }],
    ['its own goes first', { runAsUser: 0 }, { runAsUser: 5 }, { ...nothingMore, runAsUser: 0 }],
    ['a group', { runAsGroup: 0 }, {}, { ...nothingMore, runAsGroup: 0 }],
    ['a group of its volumes', {}, { fsGroup: 9 }, { ...nothingMore, supplementalGroups: [9] }],
    ['not root', { runAsNonRoot: true }, {}, { ...nothingMore, neverRoot: true }],
    ['not root, says its pod', {}, { runAsNonRoot: true }, { ...nothingMore, neverRoot: true }],
    ['root after all', { runAsNonRoot: false }, { runAsNonRoot: true }, undefined],
    [
      'no more rights, and no groups but these',
      { runAsUser: 7, runAsGroup: 8, allowPrivilegeEscalation: false },
      { supplementalGroups: [1], supplementalGroupsPolicy: 'Strict' },
      {
        ...nothingMore,
        runAsUser: 7,
        runAsGroup: 8,
        supplementalGroups: [1],
        onlyTheseGroups: true,
        noNewPrivileges: true,
      },
    ],
  ])('%s', (_, own, shared, expected) => {
    expect(asked(own, shared)).toEqual(expected)
  })
})
