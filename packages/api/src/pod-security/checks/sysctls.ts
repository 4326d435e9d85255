import type { Check, PodCheck } from '../check.ts'

/** Kernel settings that a pod can have for itself. */
const safeSince0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const safeSince27 = [...safeSince0, 'net.ipv4.ip_local_reserved_ports']
const safeSince29 = [
  ...safeSince27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const safeSince32 = [...safeSince29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

function check(safe: readonly string[]): PodCheck {
  return ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !safe.includes(name))
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
  }
}

export const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  versions: [
    { since: 0, check: check(safeSince0) },
    { since: 27, check: check(safeSince27) },
    { since: 29, check: check(safeSince29) },
    { since: 32, check: check(safeSince32) },
  ],
}
