import type { CheckedPod, CheckVersion, PodCheck, Violation } from './check.ts'
import { checks } from './checks/index.ts'
import type { LevelVersion } from './level.ts'

/** What a pod does that a level forbids: nothing where it is allowed. Checks of the baseline come first, then by name. */
export function podViolations(level: LevelVersion, pod: CheckedPod): readonly Violation[] {
  return checksOf(level).flatMap((check) => check(pod) ?? [])
}

/** `hostPort, privileged`. */
export function violationReasons(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ')
}

/** `hostPort (container "a" uses hostPort 80), privileged (…)`. */
export function violationDetails(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
}

/** No check has changed since: later versions, which labels may name, are like this one. */
const newestVersion = Math.max(...checks.flatMap(({ versions }) => versions.map(({ since }) => since)))

/** Checks by level and version, of which there are few. */
const found = new Map<string, readonly PodCheck[]>()

function checksOf({ level, version }: LevelVersion): readonly PodCheck[] {
  if (level === 'privileged') return []
  const minor = version === 'latest' ? newestVersion : Math.min(version, newestVersion)
  const key = `${level} ${minor}`
  const known = found.get(key)
  if (known !== undefined) return known
  const selected = selectChecks(level, minor)
  found.set(key, selected)
  return selected
}

function selectChecks(level: 'baseline' | 'restricted', minor: number): readonly PodCheck[] {
  const current = checks.flatMap(({ id, level: own, versions }) => {
    const version: CheckVersion | undefined = versions.findLast(({ since }) => since <= minor)
    return version === undefined || (level === 'baseline' && own === 'restricted') ? [] : [{ id, version }]
  })
  const overridden = new Set(current.flatMap(({ version }) => version.overrides ?? []))
  return current.filter(({ id }) => !overridden.has(id)).map(({ version }) => version.check)
}
