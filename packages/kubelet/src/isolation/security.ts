import type { Container, Pod } from '@coracle/api'
import type {
  AskedUser,
  ContainerIsolation,
  NamespaceOptions,
  SandboxIsolation,
  SecurityProfile,
  UserOptions,
} from '../runtimes/runtime.ts'

/** Where profiles of seccomp are looked for on a node: upstream's default. */
const seccompDirectory = '/var/lib/kubelet/seccomp'

/** What of /proc and /sys containers do not see, and what they cannot write to, unless they are to see all of it. */
const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
]
const readOnlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

/** Who an image says that its processes are: a number, or a name of its own. */
export interface ImageUser {
  readonly uid?: number
  readonly username?: string
}

/**
 * The security settings of a container: its own, or else its pod's, or else the image's. `targetId` is the id of the container whose
 * processes an ephemeral one is to see.
 */
export function containerSecurity(
  pod: Pod,
  container: Container,
  image: ImageUser,
  targetId?: string,
): Omit<ContainerIsolation, 'labels' | 'annotations' | 'resources' | 'ownUsers'> {
  const { securityContext: own = {} } = container
  const { securityContext: shared = {} } = pod.spec
  const seLinux = own.seLinuxOptions ?? shared.seLinuxOptions
  const appArmor = own.appArmorProfile ?? shared.appArmorProfile
  const runAsUser = own.runAsUser ?? shared.runAsUser
  const runAsGroup = own.runAsGroup ?? shared.runAsGroup
  const masks = own.procMount === 'Unmasked' ? { maskedPaths: [], readOnlyPaths: [] } : { maskedPaths, readOnlyPaths }
  return {
    ...groupsOf(pod),
    ...userOf(runAsUser, image),
    ...(runAsGroup === undefined ? {} : { runAsGroup }),
    ...masks,
    namespaces: namespacesOf(pod, targetId),
    privileged: own.privileged === true,
    readOnlyRootFilesystem: own.readOnlyRootFilesystem === true,
    addCapabilities: own.capabilities?.add ?? [],
    dropCapabilities: own.capabilities?.drop ?? [],
    noNewPrivileges: own.allowPrivilegeEscalation === false,
    seccomp: seccompOf(own.seccompProfile ?? shared.seccompProfile),
    ...(appArmor === undefined ? {} : { apparmor: profileOf(appArmor, appArmor.localhostProfile) }),
    ...(seLinux === undefined ? {} : { selinux: seLinux as NonNullable<ContainerIsolation['selinux']> }),
  }
}

/** Whom a container wants to be where no image says anything of it; undefined where it does not say either. */
export function askedUser(pod: Pod, { securityContext: own = {} }: Container): AskedUser | undefined {
  const { securityContext: shared = {} } = pod.spec
  const groups = groupsOf(pod)
  const runAsUser = own.runAsUser ?? shared.runAsUser
  const runAsGroup = own.runAsGroup ?? shared.runAsGroup
  const neverRoot = (own.runAsNonRoot ?? shared.runAsNonRoot) === true
  if (!neverRoot && (runAsUser ?? runAsGroup ?? groups.supplementalGroups[0]) === undefined) return undefined
  return {
    ...groups,
    ...(runAsUser === undefined ? {} : { runAsUser }),
    ...(runAsGroup === undefined ? {} : { runAsGroup }),
    neverRoot,
    noNewPrivileges: own.allowPrivilegeEscalation === false,
  }
}

/** An image that says nothing of it is run as root. */
function userOf(runAsUser: number | undefined, { uid, username }: ImageUser) {
  if (runAsUser !== undefined) return { runAsUser }
  return username === undefined ? { runAsUser: uid ?? 0 } : { runAsUsername: username }
}

/** The security settings of a sandbox. Its own process is confined whatever its containers are. */
export function sandboxSecurity(
  pod: Pod,
): UserOptions & Pick<SandboxIsolation, 'namespaces' | 'privileged' | 'seccomp' | 'selinux' | 'sysctls'> {
  const { securityContext = {}, containers, initContainers = [], ephemeralContainers = [] } = pod.spec
  const { runAsUser, runAsGroup, seLinuxOptions, sysctls = [] } = securityContext
  const all = [...containers, ...initContainers, ...ephemeralContainers]
  return {
    ...groupsOf(pod),
    ...(runAsUser === undefined ? {} : { runAsUser }),
    ...(runAsUser === undefined || runAsGroup === undefined ? {} : { runAsGroup }),
    namespaces: namespacesOf(pod),
    privileged: all.some((container) => container.securityContext?.privileged === true),
    seccomp: { type: 'RuntimeDefault' },
    ...(seLinuxOptions === undefined ? {} : { selinux: seLinuxOptions as NonNullable<SandboxIsolation['selinux']> }),
    sysctls: Object.fromEntries(sysctls.map(({ name, value }) => [withDots(name), value])),
  }
}

/** Names may have slashes between their parts, and runtimes know them with dots; dots in a part become slashes. */
function withDots(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name
  return name.replace(/[./]/g, (each) => (each === '/' ? '.' : '/'))
}

function groupsOf({ spec: { securityContext = {} } }: Pod): UserOptions {
  const { fsGroup, supplementalGroups = [], supplementalGroupsPolicy } = securityContext
  return {
    supplementalGroups: fsGroup === undefined ? supplementalGroups : [fsGroup, ...supplementalGroups],
    onlyTheseGroups: supplementalGroupsPolicy === 'Strict',
  }
}

function namespacesOf({ spec }: Pod, targetId?: string): NamespaceOptions {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = spec
  const shared = { network: hostNetwork === true ? 'node' : 'pod', ipc: hostIPC === true ? 'node' : 'pod' } as const
  if (hostPID === true) return { ...shared, pid: 'node' }
  if (shareProcessNamespace === true) return { ...shared, pid: 'pod' }
  return targetId === undefined ? { ...shared, pid: 'container' } : { ...shared, pid: 'target', targetId }
}

type Profile = NonNullable<NonNullable<Container['securityContext']>['seccompProfile']>

function seccompOf(profile: Profile | undefined): SecurityProfile {
  const { localhostProfile } = profile ?? {}
  if (profile === undefined) return { type: 'Unconfined' }
  return profileOf(profile, localhostProfile && `${seccompDirectory}/${localhostProfile}`)
}

function profileOf({ type }: Pick<Profile, 'type'>, localhostRef: string | undefined): SecurityProfile {
  if (type === '') return { type: 'Unconfined' }
  return { type, ...(type === 'Localhost' && localhostRef !== undefined ? { localhostRef } : {}) }
}
