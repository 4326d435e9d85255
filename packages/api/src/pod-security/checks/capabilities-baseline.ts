import { type Check, containersOf, type PodCheck } from '../check.ts'
import { containersText, distinct, quoted } from '../wording.ts'

/** What containers have by default, but for NET_RAW. */
const allowed = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

const check: PodCheck = (pod) => {
  const bad = containersOf(pod).flatMap(({ name, securityContext }) => {
    const added = (securityContext?.capabilities?.add ?? []).filter((each) => !allowed.has(each))
    return added.length === 0 ? [] : [{ name, added }]
  })
  if (bad.length === 0) return undefined
  const added = distinct(bad.flatMap(({ added }) => added))
  return {
    reason: 'non-default capabilities',
    detail: `${containersText(bad.map(({ name }) => name))} must not include ${quoted(added)} in securityContext.capabilities.add`,
  }
}

export const capabilitiesBaseline: Check = {
  id: 'capabilities_baseline',
  level: 'baseline',
  versions: [{ since: 0, check }],
}
