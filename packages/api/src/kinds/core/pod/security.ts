import {
  atomicList,
  boolean,
  enumOf,
  int64,
  literal,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'

export interface SeLinuxOptions extends Infer<typeof seLinuxOptions> {}
export const seLinuxOptions = object(`${coreV1}.SELinuxOptions`, 'The SELinux label a container runs under.', {
  user: optional(string(), 'User part of the label.'),
  role: optional(string(), 'Role part of the label.'),
  type: optional(string(), 'Type part of the label.'),
  level: optional(string(), 'Level part of the label.'),
})

export interface WindowsSecurityContextOptions extends Infer<typeof windowsSecurityContextOptions> {}
export const windowsSecurityContextOptions = object(
  `${coreV1}.WindowsSecurityContextOptions`,
  'Security settings that only Windows knows.',
  {
    gmsaCredentialSpecName: pointer(string(), 'Name of the GMSA credential spec to use.'),
    gmsaCredentialSpec: pointer(string(), 'The GMSA credential spec itself, usually filled in by its webhook.'),
    runAsUserName: pointer(string(), "Windows user the container's process runs as."),
    hostProcess: pointer(boolean, 'Run as a process of the host. All containers of a pod must agree on it.'),
  },
)

/** Where profiles of seccomp and AppArmor come from, in upstream's order. Empty is one that was left out. */
export const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'] as const
type ProfileType = (typeof profileTypes)[number] | ''

export interface SeccompProfile extends Infer<typeof seccompProfile> {}
export const seccompProfile = object(
  `${coreV1}.SeccompProfile`,
  'Which system calls are let through.',
  {
    type: required(
      literal<ProfileType>(),
      "Where the profile comes from: a file on the node, the container runtime's default, or none at all.",
      { default: '' },
    ),
    localhostProfile: pointer(
      string(),
      "File of the profile below the node agent's seccomp directory; only with Localhost.",
    ),
  },
  { unions: [{ discriminator: 'type', fields: ['localhostProfile'], checked: false }] },
)

export interface AppArmorProfile extends Infer<typeof appArmorProfile> {}
export const appArmorProfile = object(
  `${coreV1}.AppArmorProfile`,
  'Which AppArmor profile confines a container.',
  {
    type: required(
      literal<ProfileType>(),
      "Where the profile comes from: one loaded on the node, the container runtime's default, or none at all.",
      { default: '' },
    ),
    localhostProfile: pointer(string(), 'Name of the profile loaded on the node; only with Localhost.'),
  },
  { unions: [{ discriminator: 'type', fields: ['localhostProfile'], checked: false }] },
)

export interface Capabilities extends Infer<typeof capabilities> {}
export const capabilities = object(
  `${coreV1}.Capabilities`,
  'POSIX capabilities given to and taken from a container.',
  {
    add: optional(atomicList(string()), 'Capabilities to give beyond the defaults of the container runtime.'),
    drop: optional(atomicList(string()), 'Capabilities to take away; ALL takes every one.'),
  },
)

export interface SecurityContext extends Infer<typeof securityContext> {}
export const securityContext = object(
  `${coreV1}.SecurityContext`,
  "A container's security settings. They win over the pod's where both say something.",
  {
    privileged: pointer(boolean, 'Run with nearly all rights of the node. False unless set.'),
    runAsUser: pointer(int64(), 'UID the process starts with instead of what the image says.'),
    runAsGroup: pointer(int64(), 'GID the process starts with.'),
    runAsNonRoot: pointer(boolean, 'Refuse to start as UID 0. The node agent checks it at start.'),
    readOnlyRootFilesystem: pointer(boolean, 'Mount the root file system read-only.'),
    allowPrivilegeEscalation: pointer(
      boolean,
      'Whether a process may gain more rights than its parent. Always so when privileged or with CAP_SYS_ADMIN.',
    ),
    capabilities: optional(capabilities, 'Capabilities to add and drop.'),
    seccompProfile: optional(seccompProfile, 'System calls let through.'),
    appArmorProfile: optional(appArmorProfile, 'AppArmor profile of the container.'),
    seLinuxOptions: optional(seLinuxOptions, 'SELinux label of the container; a random one unless set.'),
    procMount: pointer(
      enumOf('Default', 'Unmasked'),
      'How /proc is mounted: with the usual paths masked, or all of it.',
    ),
    windowsOptions: optional(windowsSecurityContextOptions, 'Settings for Windows nodes.'),
  },
)

export interface Sysctl extends Infer<typeof sysctl> {}
export const sysctl = object(`${coreV1}.Sysctl`, 'A kernel parameter of the pod.', {
  name: required(string(), 'Name of the parameter, such as net.core.somaxconn.'),
  value: required(string(), 'Value to set it to.', { default: '' }),
})

export interface PodSecurityContext extends Infer<typeof podSecurityContext> {}
export const podSecurityContext = object(
  `${coreV1}.PodSecurityContext`,
  'Users, groups and rights that all containers of a pod have unless they say otherwise.',
  {
    runAsUser: pointer(int64(), 'UID that containers start with unless they say otherwise.'),
    runAsGroup: pointer(int64(), 'GID that containers start with unless they say otherwise.'),
    runAsNonRoot: pointer(boolean, 'Refuse to start containers as UID 0 unless they say otherwise.'),
    supplementalGroups: optional(atomicList(int64()), 'Further groups of the first process in each container.'),
    supplementalGroupsPolicy: pointer(
      enumOf('Merge', 'Strict'),
      "Whether groups that the image gives the user count too (Merge, the default) or only the pod's own (Strict).",
    ),
    fsGroup: pointer(int64(), 'Group that owns the files of volumes which support it.'),
    fsGroupChangePolicy: pointer(
      enumOf('Always', 'OnRootMismatch'),
      "When ownership inside a volume is changed: each time, or only if the root directory's does not match.",
    ),
    seccompProfile: optional(seccompProfile, 'System calls that containers may make unless they say otherwise.'),
    appArmorProfile: optional(appArmorProfile, 'AppArmor profile of containers that name none.'),
    seLinuxOptions: optional(seLinuxOptions, 'SELinux label of containers that name none.'),
    seLinuxChangePolicy: pointer(
      literal<'MountOption' | 'Recursive'>(),
      'How volumes get the SELinux label: file by file (Recursive). By a mount option is an alpha feature.',
    ),
    sysctls: optional(atomicList(sysctl), 'Namespaced kernel parameters to set.'),
    windowsOptions: optional(windowsSecurityContextOptions, 'Settings for Windows nodes.'),
  },
)
