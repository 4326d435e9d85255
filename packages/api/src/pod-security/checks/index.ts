import type { Check } from '../check.ts'
import { allowPrivilegeEscalation } from './allow-privilege-escalation.ts'
import { appArmorProfile } from './app-armor-profile.ts'
import { capabilitiesBaseline } from './capabilities-baseline.ts'
import { capabilitiesRestricted } from './capabilities-restricted.ts'
import { hostNamespaces } from './host-namespaces.ts'
import { hostPathVolumes } from './host-path-volumes.ts'
import { hostPorts } from './host-ports.ts'
import { hostProbesAndHostLifecycle } from './host-probes-and-host-lifecycle.ts'
import { privileged } from './privileged.ts'
import { procMount, procMountRestricted } from './proc-mount.ts'
import { restrictedVolumes } from './restricted-volumes.ts'
import { runAsNonRoot } from './run-as-non-root.ts'
import { runAsUser } from './run-as-user.ts'
import { seLinuxOptions } from './se-linux-options.ts'
import { seccompProfileBaseline } from './seccomp-profile-baseline.ts'
import { seccompProfileRestricted } from './seccomp-profile-restricted.ts'
import { sysctls } from './sysctls.ts'
import { windowsHostProcess } from './windows-host-process.ts'

/** All checks, in the order that messages have: those of the baseline by their ids, then those that only the restricted level has. */
export const checks: readonly Check[] = [
  appArmorProfile,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbesAndHostLifecycle,
  privileged,
  procMount,
  seLinuxOptions,
  seccompProfileBaseline,
  sysctls,
  windowsHostProcess,
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  procMountRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompProfileRestricted,
]
