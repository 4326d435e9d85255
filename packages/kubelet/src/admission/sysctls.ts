import type { Pod } from '@coracle/api'
import type { WaitingReason } from '../status/container-statuses.ts'

/**
 * Kernel settings that a pod may have on any node, by what keeps them apart from those of others: its network, or its IPC
 * (https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster). All others a node would have to allow.
 */
const safeSysctls: ReadonlyMap<string, 'net' | 'ipc'> = new Map([
  ['kernel.shm_rmid_forced', 'ipc'],
  ['net.ipv4.ip_local_port_range', 'net'],
  ['net.ipv4.tcp_syncookies', 'net'],
  ['net.ipv4.ping_group_range', 'net'],
  ['net.ipv4.ip_unprivileged_port_start', 'net'],
  ['net.ipv4.ip_local_reserved_ports', 'net'],
  ['net.ipv4.tcp_keepalive_time', 'net'],
  ['net.ipv4.tcp_fin_timeout', 'net'],
  ['net.ipv4.tcp_keepalive_intvl', 'net'],
  ['net.ipv4.tcp_keepalive_probes', 'net'],
  ['net.ipv4.tcp_rmem', 'net'],
  ['net.ipv4.tcp_wmem', 'net'],
])

/** Why a pod with these kernel settings cannot be taken on, in upstream's words; undefined where it can. */
export function forbiddenSysctl({ spec }: Pod): WaitingReason | undefined {
  const { securityContext, hostNetwork = false, hostIPC = false } = spec
  for (const { name: written } of securityContext?.sysctls ?? []) {
    const name = withDots(written)
    const group = safeSysctls.get(name)
    const isShared = (group === 'net' && hostNetwork) || (group === 'ipc' && hostIPC)
    if (group !== undefined && !isShared) continue
    const why = isShared ? `not allowed with host ${group} enabled` : 'not allowlisted'
    return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(name)} ${why}` }
  }
  return undefined
}

/** Names may have slashes between their parts; then dots belong to the parts. */
function withDots(name: string): string {
  const separator = /[./]/.exec(name)?.[0]
  if (separator !== '/') return name
  return name.replace(/[./]/g, (each) => (each === '/' ? '.' : '/'))
}
