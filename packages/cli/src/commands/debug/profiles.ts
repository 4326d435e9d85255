import type { Container, EphemeralContainer, Pod, SecurityContext } from '@coracle/api'
import { CliError } from '../../cli-error.ts'

/** How something is debugged: by a container in the pod itself, in a copy of it, or in a pod on a node. */
export type DebugStyle = 'ephemeral' | 'copy' | 'node'

/** What a copy of a pod keeps of it. */
export interface KeepFlags {
  readonly keepLabels?: boolean
  readonly keepAnnotations?: boolean
  readonly keepLiveness?: boolean
  readonly keepReadiness?: boolean
  readonly keepStartup?: boolean
  readonly keepInitContainers?: boolean
}

/** What a profile does to a pod and to the container one debugs with (kubectl's profiles). */
interface Profile {
  /** Changes the security context of the container. */
  readonly secure: (style: DebugStyle, context: SecurityContext | undefined) => SecurityContext | undefined
  /** Of a pod on a node: it has the namespaces of the node, and the node's files at /host. */
  readonly hostNamespaces: boolean
  readonly hostFiles: boolean
}

const profiles: Readonly<Record<string, Profile>> = {
  legacy: { secure: (_, context) => context, hostNamespaces: true, hostFiles: true },
  general: {
    secure: (style, context) => (style === 'node' ? undefined : withCapabilities(context, 'SYS_PTRACE')),
    hostNamespaces: true,
    hostFiles: true,
  },
  baseline: { secure: () => undefined, hostNamespaces: false, hostFiles: false },
  restricted: {
    secure: () => ({
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
      allowPrivilegeEscalation: false,
      seccompProfile: { type: 'RuntimeDefault' },
    }),
    hostNamespaces: false,
    hostFiles: false,
  },
  netadmin: {
    secure: (_, context) => withCapabilities(context, 'NET_ADMIN', 'NET_RAW'),
    hostNamespaces: true,
    hostFiles: false,
  },
  sysadmin: { secure: (_, context) => ({ ...context, privileged: true }), hostNamespaces: true, hostFiles: true },
}

/** Throws a CliError where there is no profile of this name. */
export function checkProfile(name: string): void {
  if (!Object.hasOwn(profiles, name)) throw new CliError(`unknown profile: ${name}`)
}

/** The pod as a profile has it, with the rights that it gives the container of this name. */
export function applyProfile(name: string, style: DebugStyle, pod: Pod, container: string, keep: KeepFlags): Pod {
  const profile = profiles[name]
  if (profile === undefined) throw new CliError(`unknown profile: ${name}`)
  const secured = changeContainer(pod, container, (each) => ({
    ...each,
    securityContext: profile.secure(style, each.securityContext),
  }))
  switch (style) {
    case 'ephemeral':
      return secured
    case 'copy':
      return name === 'legacy' ? withoutLabels(secured) : sharingProcesses(keeping(secured, keep))
    case 'node':
      return onNode(secured, container, profile)
  }
}

/** The pod with one of its containers changed, of whichever sort that is. */
export function changeContainer(
  pod: Pod,
  name: string,
  change: <C extends Container | EphemeralContainer>(container: C) => C,
): Pod {
  const changed = <C extends Container | EphemeralContainer>(list: readonly C[]): readonly C[] =>
    list.map((each) => (each.name === name ? change(each) : each))
  const { containers, initContainers, ephemeralContainers, ...spec } = pod.spec
  return {
    ...pod,
    spec: {
      ...spec,
      ...(initContainers === undefined ? {} : { initContainers: changed(initContainers) }),
      containers: changed(containers),
      ...(ephemeralContainers === undefined ? {} : { ephemeralContainers: changed(ephemeralContainers) }),
    },
  }
}

function withCapabilities(context: SecurityContext | undefined, ...added: readonly string[]): SecurityContext {
  const { capabilities } = context ?? {}
  return { ...context, capabilities: { ...capabilities, add: [...(capabilities?.add ?? []), ...added] } }
}

function withoutLabels({ metadata: { labels: _labels, ...metadata }, ...pod }: Pod): Pod {
  return { ...pod, metadata }
}

function keeping(pod: Pod, keep: KeepFlags): Pod {
  const { labels, annotations, ...metadata } = pod.metadata
  const { initContainers, ...spec } = pod.spec
  return {
    ...pod,
    metadata: {
      ...metadata,
      ...(keep.keepLabels === true && labels !== undefined ? { labels } : {}),
      ...(keep.keepAnnotations === true && annotations !== undefined ? { annotations } : {}),
    },
    spec: {
      ...spec,
      ...(keep.keepInitContainers !== false && initContainers !== undefined ? { initContainers } : {}),
      containers: spec.containers.map((container) => withProbes(container, keep)),
    },
  }
}

function withProbes(
  { livenessProbe, readinessProbe, startupProbe, ...container }: Container,
  { keepLiveness, keepReadiness, keepStartup }: KeepFlags,
): Container {
  return {
    ...container,
    ...(keepLiveness === true && livenessProbe !== undefined ? { livenessProbe } : {}),
    ...(keepReadiness === true && readinessProbe !== undefined ? { readinessProbe } : {}),
    ...(keepStartup === true && startupProbe !== undefined ? { startupProbe } : {}),
  }
}

function sharingProcesses(pod: Pod): Pod {
  const { shareProcessNamespace = true } = pod.spec
  return { ...pod, spec: { ...pod.spec, shareProcessNamespace } }
}

const hostVolume = 'host-root'

function onNode(pod: Pod, container: string, { hostNamespaces, hostFiles }: Profile): Pod {
  const mounted = hostFiles
    ? changeContainer(pod, container, (each) => ({
        ...each,
        volumeMounts: [...(each.volumeMounts ?? []), { name: hostVolume, mountPath: '/host' }],
      }))
    : pod
  return {
    ...mounted,
    spec: {
      ...mounted.spec,
      ...(hostFiles ? { volumes: [...(pod.spec.volumes ?? []), { name: hostVolume, hostPath: { path: '/' } }] } : {}),
      ...(hostNamespaces ? { hostNetwork: true, hostPID: true, hostIPC: true } : {}),
    },
  }
}
