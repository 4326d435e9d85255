import { describe, expect, it } from 'vitest'
import type { PodSpec } from '../kinds/core/pod/pod-spec.ts'
import { podViolations, violationDetails, violationReasons } from './evaluate.ts'

/** What a level says of a pod with these fields, in upstream's words. */
function said(level: 'baseline' | 'restricted', spec: object, annotations = {}, version: number | 'latest' = 'latest') {
  return violationDetails(podViolations({ level, version }, { annotations, spec: spec as PodSpec }))
}

/** What keeps the restricted level in everything that a row is not about. */
const restrained = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const restrainedPod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }

/** Containers `a`, `b`, … with these security contexts. */
const containers = (...contexts: readonly (object | undefined)[]) =>
  contexts.map((securityContext, index) => ({ name: 'abcdefgh'[index], securityContext }))

describe('what the baseline says', () => {
  it.each<[string, object, string]>([
    [
      'of AppArmor',
      {
        securityContext: { appArmorProfile: { type: 'Unconfined' } },
        containers: containers({ appArmorProfile: { type: 'Unconfined' } }, { appArmorProfile: { type: 'Localhost' } }),
      },
      'forbidden AppArmor profile (pod and container "a" must not set AppArmor profile type to "Unconfined")',
    ],
    [
      'of capabilities',
      {
        containers: containers(
          { capabilities: { add: ['FOO', 'BAR'] } },
          { capabilities: { add: ['BAR', 'BAZ'] } },
          { capabilities: { add: ['CHOWN'] } },
        ),
      },
      'non-default capabilities (containers "a", "b" must not include "BAR", "BAZ", "FOO" in securityContext.capabilities.add)',
    ],
    [
      'of the namespaces of the node',
      { hostNetwork: true, hostPID: true, hostIPC: true },
      'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
    ],
    [
      'of paths of the node',
      { volumes: [{ name: 'a', hostPath: { path: '/' } }, { name: 'b', hostPath: { path: '/' } }, { name: 'c' }] },
      'hostPath volumes (volumes "a", "b")',
    ],
    [
      'of ports of the node, in the order of their texts',
      {
        containers: [
          { name: 'a', ports: [{ containerPort: 1 }] },
          { name: 'b', ports: [{ containerPort: 1, hostPort: 20 }] },
          { name: 'c', ports: [{ hostPort: 100 }, { hostPort: 30 }] },
        ],
      },
      'hostPort (containers "b", "c" use hostPorts 100, 20, 30)',
    ],
    [
      'of one port of the node',
      { initContainers: [{ name: 'a', ports: [{ hostPort: 20 }] }] },
      'hostPort (container "a" uses hostPort 20)',
    ],
    [
      'of hosts that probes and hooks ask',
      {
        containers: [
          {
            name: 'b',
            lifecycle: { preStop: { httpGet: { host: 'b.com' } }, postStart: { tcpSocket: { host: 'a.com' } } },
          },
          { name: 'a', readinessProbe: { tcpSocket: { host: 'b.com' } }, livenessProbe: { httpGet: { port: 80 } } },
        ],
      },
      'probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "a.com", "b.com")',
    ],
    [
      'of privileges, in all containers',
      {
        containers: containers({ privileged: true }, { privileged: false }),
        initContainers: [{ name: 'init', securityContext: { privileged: true } }],
        ephemeralContainers: [{ name: 'debug', securityContext: { privileged: true } }],
      },
      'privileged (containers "init", "a", "debug" must not set securityContext.privileged=true)',
    ],
    [
      'of /proc',
      { containers: containers({ procMount: 'Unmasked' }, { procMount: 'Default' }) },
      'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ],
    ['of /proc in a user namespace', { hostUsers: false, containers: containers({ procMount: 'Unmasked' }) }, ''],
    [
      'of SELinux',
      {
        securityContext: { seLinuxOptions: { type: 'foo', user: 'bar', role: 'baz' } },
        containers: containers(
          { seLinuxOptions: { type: 'container_engine_t' } },
          { seLinuxOptions: { type: 'bar' } },
          { seLinuxOptions: { user: 'bar' } },
        ),
      },
      'seLinuxOptions (pod and containers "b", "c" set forbidden securityContext.seLinuxOptions: types "bar", "foo"; user may not be set; role may not be set)',
    ],
    [
      'of seccomp',
      {
        securityContext: { seccompProfile: { type: 'Unconfined' } },
        containers: containers(undefined, { seccompProfile: { type: 'Unconfined' } }),
      },
      'seccompProfile (pod and container "b" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      'of sysctls',
      { securityContext: { sysctls: [{ name: 'b' }, { name: 'net.ipv4.tcp_rmem' }, { name: 'a' }] } },
      'forbidden sysctls (b, a)',
    ],
    [
      'of processes of a Windows node',
      {
        securityContext: { windowsOptions: { hostProcess: true } },
        containers: containers({ windowsOptions: { hostProcess: true } }),
      },
      'hostProcess (pod and container "a" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
    [
      'of several things, each by its own name and in the order of those',
      { hostNetwork: true, containers: containers({ privileged: true }) },
      'host namespaces (hostNetwork=true), privileged (container "a" must not set securityContext.privileged=true)',
    ],
  ])('%s', (_, spec, expected) => {
    expect(said('baseline', spec)).toBe(expected)
  })

  it('of annotations, from before there were fields', () => {
    const prefix = 'container.apparmor.security.beta.kubernetes.io/'
    expect(said('baseline', {}, { [`${prefix}a`]: 'bogus', [`${prefix}b`]: '', env: 'prod' })).toBe(
      `forbidden AppArmor profile (annotation must not set AppArmor profile type to "${prefix}a="bogus"")`,
    )
    const seccomp = 'seccomp.security.alpha.kubernetes.io/pod'
    expect(said('baseline', {}, { [seccomp]: 'unconfined' }, 18)).toBe(
      `seccompProfile (forbidden annotation ${seccomp}="unconfined")`,
    )
    expect(said('baseline', {}, { [seccomp]: 'unconfined' }, 19)).toBe('')
  })
})

describe('what the restricted level says', () => {
  it.each<[string, object, string]>([
    [
      'of a pod that says nothing of all this',
      { containers: [{ name: 'c' }] },
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
    [
      'of capabilities',
      {
        securityContext: restrainedPod,
        containers: containers(
          { ...restrained, capabilities: { add: ['FOO', 'BAR'] } },
          { ...restrained, capabilities: { drop: ['ALL'], add: ['CHOWN', 'NET_BIND_SERVICE'] } },
          restrained,
        ),
      },
      'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; containers "a", "b" must not include "BAR", "CHOWN", "FOO" in securityContext.capabilities.add)',
    ],
    [
      'of /proc, in a user namespace too',
      {
        hostUsers: false,
        securityContext: restrainedPod,
        containers: containers({ ...restrained, procMount: 'Unmasked' }),
      },
      'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'of volumes, and not twice of paths of the node',
      {
        securityContext: restrainedPod,
        volumes: [
          { name: 'a', hostPath: { path: '/' } },
          { name: 'b', nfs: {} },
          { name: 'c', emptyDir: {} },
          { name: 'd', image: {} },
        ],
      },
      'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
    ],
    [
      'of root, where it is asked for',
      {
        securityContext: { ...restrainedPod, runAsNonRoot: true, runAsUser: 0 },
        containers: containers({ ...restrained, runAsNonRoot: false }, { ...restrained, runAsUser: 0 }),
      },
      'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod and container "b" must not set runAsUser=0)',
    ],
    [
      'of root in a user namespace',
      {
        hostUsers: false,
        securityContext: { ...restrainedPod, runAsNonRoot: false, runAsUser: 0 },
        containers: containers(restrained),
      },
      '',
    ],
    [
      'of seccomp, where a container lets everything through',
      {
        securityContext: restrainedPod,
        containers: containers({ ...restrained, seccompProfile: { type: 'Unconfined' } }),
      },
      'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      'of a pod for Windows, which cannot say most of it',
      { os: { name: 'windows' }, securityContext: { runAsNonRoot: true }, containers: containers(undefined) },
      '',
    ],
  ])('%s', (_, spec, expected) => {
    expect(said('restricted', spec)).toBe(expected)
  })
})

it('gives reasons alone where many pods are told of', () => {
  const spec = { hostPID: true, containers: containers({ privileged: true }) } as unknown as PodSpec
  const violations = podViolations({ level: 'baseline', version: 'latest' }, { annotations: {}, spec })
  expect(violationReasons(violations)).toBe('host namespaces, privileged')
})

it('forbids nothing that is privileged, and in versions to come what it forbids now', () => {
  const spec = { hostPID: true } as unknown as PodSpec
  expect(podViolations({ level: 'privileged', version: 'latest' }, { annotations: {}, spec })).toEqual([])
  expect(podViolations({ level: 'baseline', version: 99 }, { annotations: {}, spec })).toHaveLength(1)
})
